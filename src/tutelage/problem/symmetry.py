"""Which parts leave equal tokens equal, so that a collapsed run is the whole one."""

from __future__ import annotations

from tutelage.refuse import Refused
from tutelage.settings import Setting

# Of each kind of part those that keep the symmetry, and why others do not. An optimiser may combine
# gradients linearly and take their lengths, which are the same in any orthonormal basis. A class of
# N equal entries is one coordinate √N times as large: Adam and sign descent, entry by entry, would
# move it by the same length.
SYMMETRIC: dict[str, tuple[tuple[str, ...], str]] = {
    "inputs": (("gaussian",), "the closed-form risk is for Gaussian tokens"),
    "student": (
        ("position_attention",),
        "only scores of positions alone are equal where the weights of S* are",
    ),
    "objective": (("population",), "a sample tells tokens apart"),
    "optimiser": (
        ("averaged", "gradient_descent", "momentum", "normalised"),
        "it must not move each entry by its own size",
    ),
}


def check_symmetry(setting: Setting) -> None:
    """Refuses the parts of a setting under which a collapsed run is not the whole one."""
    for kind, (known, reason) in SYMMETRIC.items():
        name = setting.part(kind).name
        if name not in known:
            raise Refused(
                f"A collapsed teacher needs the {kind} {' or '.join(repr(n) for n in known)}, "
                f"since {reason}. Got {name!r}; "
                "leave the teacher whole."
            )
