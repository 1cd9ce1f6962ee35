"""Settings in Python and by `--set`: registered parts with options that are odd, or too many."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from hardening.bad_input.odd import odd_value, odd_word
from hardening.bad_input.target import Target
from hardening.bad_input.yard import Yard

if TYPE_CHECKING:
    from tutelage.settings import Setting

FIELDS = ("rate", "steps", "seed")


class Settings(Target):
    """`Setting.change` and `build`, with one to three things wrong in a setting that is sound."""

    name: ClassVar[str] = "settings"
    share: ClassVar[int] = 18

    def __init__(self, yard: Yard) -> None:
        from tutelage.problem.registry import registered, registered_names
        from tutelage.settings import KINDS
        from tutelage.testing.examples import is_slow

        super().__init__(yard)
        self.parts = [
            (kind, name)
            for kind in KINDS
            for name in registered_names(kind)
            if not is_slow(registered(kind, name))
        ]
        self.examples: dict[tuple[str, str], Setting] = {}  # found when first asked for

    def example(self, draw: Random) -> Setting:
        """A setting that is sound, with some part in it."""
        from tutelage.testing.examples import find_example

        part = draw.choice(self.parts)
        if part not in self.examples:
            self.examples[part] = find_example(*part)
        return self.examples[part]

    def attack(self, draw: Random) -> bool:
        from tutelage.problem.build import build
        from tutelage.problem.registry import options_of
        from tutelage.settings import KINDS

        setting = self.example(draw)
        changes: dict[str, Any] = {}
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            kind = draw.choice(KINDS)
            part = setting.part(kind)
            options = [*options_of(kind, part.name), odd_word(draw)]
            match draw.randrange(10):
                case 0:
                    changes[draw.choice(FIELDS)] = odd_value(draw)
                case 1:
                    other = self.example(draw).part(kind)
                    changes[kind] = draw.choice((odd_value(draw), other))
                case 2:
                    changes["measures"] = (odd_word(draw),)
                case _:
                    changes[f"{kind}.{draw.choice(options)}"] = odd_value(draw)
        changed = setting.change(**changes)
        changed.identity()
        changed.plain()
        build(changed)
        return True
