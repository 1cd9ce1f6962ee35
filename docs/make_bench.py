"""Copies a finished bench into docs/, and writes the tables of docs/bench.md from it.

python docs/make_bench.py out/bench
"""

import json
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from benchmarks import table  # noqa: E402
from tools.mathematics import write_formulas  # noqa: E402


def sections(bench: dict) -> dict[str, str]:
    """What stands between the markers of docs/bench.md, by their names."""
    profile, latencies = bench["profile"], bench["limits"]["latencies_us"]
    exact, heads, cold = profile["exact"], profile["heads"], profile["cold"]["stages_s"]
    limits = [
        ["", "bound by"],
        *([w["name"], w["limit"]["by"]] for w in bench["workloads"] if w["limit"]),
    ]
    rivals = [["workload", "row", "wall", "cpu", "how"]]
    for workload in bench["workloads"]:
        for name, row in {"tutelage": workload["ours"], **workload["rivals"]}.items():
            times = [table.time_of(row[clock], workload["unit"]) for clock in ("wall", "cpu")]
            rivals.append([workload["name"], name, *times, row.get("note", "") or "–"])
    about = f"Preset: {bench['preset']}, {bench['seconds']} s. Machine: {table.machine_line(bench)}"
    checked = "\n".join(f"- {said[0].upper()}{said[1:]}." for said in bench["checks"])
    left_out = "\n".join(f"- {said}" for said in bench["said"])
    return {
        "machine": "\n\n".join(filter(None, [about, checked, left_out])),
        "table": table.markdown(table.main_rows(bench)),
        "promises": table.markdown(table.promise_rows(bench)),
        "rows": table.markdown(rivals),
        "limits": "\n\n".join(
            [
                table.markdown(table.limit_rows(bench)),
                table.markdown(limits),
                table.markdown(
                    [
                        ["what the exact step cannot do without", "µs"],
                        *([name, f"{us:.2f}"] for name, us in latencies.items()),
                    ]
                ),
            ]
        ),
        "exact": "\n\n".join(
            [
                table.markdown(table.exact_rows(bench)),
                f"{exact['kernels']} kernels a step, and one of eight numbers takes "
                f"{exact['kernel_us']:.3f} µs: "
                f"{exact['kernels'] * exact['kernel_us']:.2f} µs a step are spent on beginning "
                "them.",
            ]
        ),
        "heads": table.markdown(
            table.profile_rows(heads["parts_ms"], heads["whole_ms"], "ms of one core")
        ),
        "cold": table.markdown([["stage", "s"], *([name, f"{s:.2f}"] for name, s in cold.items())]),
        "growth": table.markdown(table.growth_rows(bench)),
    }


def inserted(page: str, found: dict[str, str]) -> str:
    """The page with the text between its markers replaced."""
    for name, text in found.items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
            lambda m, text=text: f"{m[1]}\n{write_formulas(text)}\n\n{m[2]}",
            page,
            flags=re.S,
        )
    return page


def main(folder: Path) -> None:
    shutil.copy(folder / "bench.json", DOCS / "bench.json")
    shutil.copy(folder / "bench.png", DOCS / "figures" / "bench.png")
    found = sections(json.loads((DOCS / "bench.json").read_text()))
    page = DOCS / "bench.md"
    page.write_text(inserted(page.read_text(), found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
