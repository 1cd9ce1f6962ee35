"""The explorer as one file that needs no server: it works from disk and on any web host."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from string import Template

from tutelage.explorer.baking import Tell, bake, bake_runs
from tutelage.explorer.bundle import bundle
from tutelage.explorer.limits import Limits
from tutelage.explorer.reading import Event
from tutelage.explorer.server import PAGE
from tutelage.explorer.site import Site
from tutelage.refuse import Refused
from tutelage.version import __version__

INDEX = "index.html"
GENERATOR = "tutelage explore"  # how a folder of ours is known
START = """
const asked = new URLSearchParams(location.search).get("page");
const { catalogue } = JSON.parse(document.getElementById("carried").textContent);
const shown = [...catalogue.pages, ...catalogue.papers, { name: "saved", title: "saved runs" }];
const page = shown.find(({ name }) => name === asked) ?? shown[0];
document.body.dataset.page = page.name;
document.title = `tutelage: ${page.title}`;
const has = (pages) => pages.some(({ name }) => name === page.name);
await entries[has(catalogue.pages) ? "app" : has(catalogue.papers) ? "paper" : "saved"]();
"""


def export(folder: Path, store: str, site: Site, limits: Limits, tell: Tell) -> Path:
    """Writes the page into a folder that is new, empty or an earlier export, and answers with its
    file. The folder appears atomically.
    """
    check_folder(folder)
    carried = bake(site, limits, store, tell)
    saved = carried["saved"]
    assert isinstance(saved, dict)
    text = write_page(carried, site, list(bake_runs(saved, store, site, limits)))
    try:
        return _place(folder, text)
    except OSError as error:
        raise Refused(
            f"`--export` must be a folder that can be written, since the page goes there. Got "
            f"{folder}: {error.strerror}."
        ) from None


def check_folder(folder: Path) -> None:
    """Refuses a folder that holds anything but an earlier export, or that cannot be written."""
    got = f"Got {folder}"
    if folder.is_symlink() or (os.path.exists(folder) and not os.path.isdir(folder)):
        raise Refused(f"`--export` must be a folder, since the page goes into it. {got}, a file.")
    parent = folder.absolute().parent
    if not os.path.isdir(parent):
        raise Refused(
            f"`--export` must be in a folder that exists, since only its last part is made. {got}."
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise Refused(
            f"`--export` must be in a folder that can be written, since the page appears there in "
            f"one move. {got}, where {parent} is read-only."
        )
    if os.path.isdir(folder) and not _is_ours(folder):
        others = sorted(path.name for path in folder.iterdir())
        raise Refused(
            "`--export` must be a folder that is new, empty or an earlier export, since it is "
            f"replaced as a whole. {got}, which holds {', '.join(others[:3])}."
        )


def _is_ours(folder: Path) -> bool:
    """Whether a folder is empty or holds an exported page alone."""
    names = [path.name for path in folder.iterdir()]
    if not names:
        return True
    if names != [INDEX]:
        return False
    with (folder / INDEX).open(encoding="utf-8", errors="replace") as file:
        return f'name="generator" content="{GENERATOR}' in file.read(2000)


def write_page(carried: Event, site: Site, runs: list[tuple[str, Event]]) -> str:
    """The whole file."""
    license_of_uplot = (PAGE / "vendor/uplot/LICENSE").read_text(encoding="utf-8")
    style = "\n".join(
        (PAGE / name).read_text(encoding="utf-8")
        for name in ("vendor/uplot/uPlot.min.css", "page.css")
    )
    icon = base64.b64encode((PAGE / "icon.svg").read_bytes()).decode()
    scripts = {
        f"reading of {placed.page.name}": (placed.page.name, placed.page.script)
        for placed in site.pages
        if placed.page.script is not None
    }
    readings = "".join(
        f'readings["{page}"] = (await entries["{name}"]()).read;\n'
        for name, (page, _) in scripts.items()
    )
    entries = {
        **{name: path for name, (_, path) in scripts.items()},
        **{name: PAGE / f"{name}.js" for name in ("app", "paper", "saved")},
    }
    script = bundle(entries, f"const readings = (globalThis.readings = {{}});\n{readings}{START}")
    return Template((PAGE / "export.html").read_text(encoding="utf-8")).substitute(
        generator=f"{GENERATOR} {__version__}",
        icon=f"data:image/svg+xml;base64,{icon}",
        style=f"\n{style}\n",
        carried=_embed(carried),
        worker=write_worker(),
        runs="".join(_write_runs(runs)),
        script=f"\n/* uPlot:\n{license_of_uplot}*/\n{script}\n",
    )


def write_worker() -> str:
    """The script of the thread that runs a setting."""
    return bundle({"worker": PAGE / "exact/worker.js"}, 'entries["worker"]();')


def _write_runs(runs: list[tuple[str, Event]]) -> Iterator[str]:
    for name, run in runs:
        yield f'<script type="application/json" id="run:{name}">{_embed(run)}</script>\n'


def _embed(value: Event) -> str:
    """JSON that cannot end the script it stands in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _place(folder: Path, text: str) -> Path:
    """Writes beside the folder, and then puts that in its place."""
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.absolute().parent))
    try:
        made.chmod(0o755)
        (made / INDEX).write_text(text, encoding="utf-8")
        if folder.exists():
            check_folder(folder)  # again: minutes have passed
            old = made.with_name(f"{made.name}-old")
            folder.rename(old)
            made.rename(folder)
            shutil.rmtree(old)
        else:
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder / INDEX
