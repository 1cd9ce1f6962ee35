"""An answer about a layer as files: JSON, matrices and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.layers.found import Found

ROUNDING = 1e-16  # shares below are drawn there
SMALL = 1e-3  # the share from which on an axis need not be logarithmic


def write_found(found: Found, folder: Path) -> list[Path]:
    """`found.json`, `found.safetensors` where there are matrices, and a figure."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "found.json"]
    written[0].write_text(json.dumps(found.plain(), indent=1, ensure_ascii=False) + "\n")
    arrays = found.arrays()
    if arrays:
        written.append(folder / "found.safetensors")
        save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, written[-1])
    written += draw_found(found, folder)
    return written


def draw_found(found: Found, folder: Path) -> list[Path]:
    """S of the largest head, or of the student where the layer has none; and what each number of
    heads leaves.
    """
    with look.figure(look.PAGE, 2.4, ncols=2) as (drawn, (left, right)):
        selection, title = _shown_selection(found)
        if selection is not None:
            shown = left.imshow(selection, cmap=look.HEAT, aspect="auto")
            drawn.colorbar(shown, ax=left)
            left.set_title(title)
            left.set_xlabel("query")
            left.set_ylabel("token")
        else:
            left.axis("off")
            left.text(0.5, 0.5, found.answer, ha="center", va="center")
        known = np.array([1.0, *(found.left_by_heads or found.gap.left)])
        counts = np.arange(len(known))
        right.plot(counts, np.maximum(known, ROUNDING), "o-", color=look.COLOURS[0])
        if known.min() < SMALL:
            right.set(yscale="log", ylim=(ROUNDING / 3, 3))
        else:
            right.set_ylim(0, 1.05)
        right.set_xticks(counts)
        right.set_xlabel("heads")
        right.set_ylabel("share that they leave")
        right.set_title("of its forms" if found.left_by_heads else "of its outputs, linear heads")
        columns = {"heads": counts, "left": known}
        return look.write(drawn, folder, "found", columns)


def _shown_selection(found: Found) -> tuple[np.ndarray | None, str]:
    if found.selections is not None:
        return found.selections[0], "S" if found.heads == 1 else "S of the largest head"
    if found.explained is not None:
        return np.asarray(found.explained.run.student.attention()), "S of the trained student"
    return None, ""
