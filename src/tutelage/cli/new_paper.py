"""`new-paper`: the package of a paper, to begin with."""

from __future__ import annotations

from pathlib import Path


def new_paper(
    name: str, *, folder: Path | None = None, title: str = "", authors: str = "Your Name"
) -> int:
    """Write a package with one theorem that holds, a control that fails, a figure, tests, a page
    and a CI file. It installs and passes as it is; make it your paper file by file.

    Parameters
    ----------
    name
        The name of the paper, of lower-case words and hyphens, such as `my-theorem`.
    folder
        Where to write it, by default a new folder of that name here.
    title
        The title of the paper.
    authors
        Its authors.
    """
    import shlex

    from tutelage.studies.creating import create_paper

    target = Path(name) if folder is None else folder
    written = create_paper(name, target, title=title, authors=authors)
    for path in written:
        print(path)
    place = shlex.quote(str(target))
    print(
        f"\nIt passes as it is:\n"
        f"  pip install --editable {shlex.quote(f'{target}[test]')}\n"
        f"  tutelage run {name}\n"
        f"  pytest {place}\n"
        f"Then make it yours: {target / 'README.md'} says which file holds what."
    )
    return 0
