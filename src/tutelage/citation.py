"""How to cite tutelage itself, as BibTeX. Papers have their own entries."""

from __future__ import annotations

from tutelage.address import PUBLIC_ADDRESS
from tutelage.version import YEAR, __version__

TITLE = "tutelage: Runnable Learning Theory for Transformers"
AUTHORS = "The authors of tutelage"


def format_bibtex(address: str = PUBLIC_ADDRESS) -> str:
    """The entry of this version of the software; without a link while it has no public address."""
    fields = {
        "title": TITLE,
        "author": f"{{{AUTHORS}}}",  # a group, which BibTeX must not split into names
        "year": str(YEAR),
        "version": __version__,
        "note": "Apache License 2.0",
    }
    if address:
        fields["url"] = address
    lines = [f"  {name:<7} = {{{text}}}" for name, text in fields.items()]
    return "\n".join(["@software{tutelage,", ",\n".join(lines), "}"])
