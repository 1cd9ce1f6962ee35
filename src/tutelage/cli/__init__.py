"""The command line. Nothing here, in `list` or in `runs` imports JAX: only computing does."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from tutelage.cli.animate import animate
from tutelage.cli.calibrate import calibrate
from tutelage.cli.check import check
from tutelage.cli.describe import cite, list_, plugins, show
from tutelage.cli.doctor import doctor
from tutelage.cli.explore import explore
from tutelage.cli.learn import learn
from tutelage.cli.messages import install_messages
from tutelage.cli.new_paper import new_paper
from tutelage.cli.register import register
from tutelage.cli.report import report
from tutelage.cli.run import run
from tutelage.cli.runs import runs
from tutelage.cli.stopping import TEMPORARY, Lost, Warned
from tutelage.cli.sweep import sweep
from tutelage.refuse import Refused
from tutelage.version import __version__

app = App(
    name="tutelage",
    help="Runnable learning theory for transformers: theorems as claims, exact training, "
    "verdicts with intervals.",
    version=__version__,
    help_format="plaintext",  # a parser of Markdown takes a twentieth of a second to load
    suppress_keyboard_interrupt=False,  # `main` says what was saved
)
app.command(list_, name="list")
app.command(show)
app.command(run)
app.command(sweep)
app.command(check)
app.command(runs)
app.command(learn)
app.command(report)
app.command(explore)
app.command(animate)
app.command(cite)
app.command(new_paper, name="new-paper")
app.command(plugins)
app.command(calibrate)
app.command(doctor)
app.command(register)


def main(arguments: Sequence[str] | None = None) -> None:
    """Exits with 0 when the work was done, 1 when a run or (with `--strict`) a claim failed or
    results could not be written, 2 for bad use, 75 when a signal stopped it and it should be run
    again, 130 for Ctrl-C.
    """
    install_messages()
    try:
        code = app(arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        code = 2  # already printed, with the nearest match
    except Refused as refused:
        print(f"tutelage: {refused}", file=sys.stderr)
        code = 2
    except Lost as lost:
        print(f"tutelage: stopped. {lost}", file=sys.stderr)
        code = 1
    except Warned as signal:
        print(
            f"tutelage: stopped by {signal}. All runs are saved where they stood; the same "
            "command goes on from there.",
            file=sys.stderr,
        )
        code = TEMPORARY
    except KeyboardInterrupt:
        print(
            "tutelage: stopped. All runs are saved where they stood; the same command goes on "
            "from there.",
            file=sys.stderr,
        )
        code = 130
    sys.exit(code or 0)
