"""The table, the targets and the plot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from servers import ROOT

# The targets, across wires and with the guard on.
FLOOR_RATIO = 2.5
CHUNK_US = 60.0
MEMORY_MB = 90.0
START_S = 2.0
AT = 16  # requests at once that CPU is compared at

# Of the project's plan, measured elsewhere: for comparison, not for any verdict.
QUOTED = {"LiteLLM": (95, 1063, 366, 15), "TensorZero": (5, 103, None, None)}
PAGE = ROOT / "docs" / "reference" / "gateway-speed.md"
PICTURE = ROOT / "docs" / "assets" / "gateway.png"
_COLOURS = {"toolglot": "#1a73e8", "litellm": "#e8710a", "llm-rosetta": "#9334e6", "portkey": "#12b5cb"}

Results = dict[str, Any]


def verdicts(results: Results) -> Iterator[tuple[str, bool]]:
    floor = _floor(results)
    for row in results["rows"]:
        if row["server"] != "toolglot":
            continue
        ratio = row[f"cpu_us@{AT}"] / floor[f"cpu_us@{AT}"]
        yield f"{row['pair']}: {ratio:.2f}x the floor's CPU a request, at most {FLOOR_RATIO}x", ratio <= FLOOR_RATIO
        yield f"{row['pair']}: {row['chunk_us']:.1f} us a chunk, at most {CHUNK_US:.0f}", row["chunk_us"] <= CHUNK_US
    memory = max(row["memory"] for row in results["rows"] if row["server"] == "toolglot")
    yield f"{memory:.0f} MB under load, at most {MEMORY_MB:.0f}", memory <= MEMORY_MB
    start = results["starts"]["toolglot"]
    yield f"started in {start:.2f} s, in under {START_S:.0f}", start < START_S


def _floor(results: Results) -> Results:
    return next(row for row in results["rows"] if row["server"] == "floor")


def table(results: Results) -> list[tuple[str, ...]]:
    floor = _floor(results)
    lines: list[tuple[str, ...]] = [
        ("server", "wires", "CPU us a request", "x floor", "us a chunk", "x floor", "first byte ms", "MB", "start s"),
    ]
    for row in results["rows"]:
        direct = row["server"] == "direct"
        cpu, chunk, start = row[f"cpu_us@{AT}"], row.get("chunk_us"), results["starts"].get(row["server"])
        lines.append(
            (
                row["server"],
                row["pair"],
                f"{cpu:,.0f}",
                "-" if direct else f"{cpu / floor[f'cpu_us@{AT}']:.2f}",
                "-" if chunk is None else f"{chunk:,.1f}",
                "-" if direct or chunk is None else f"{chunk / floor['chunk_us']:.2f}",
                "-" if chunk is None else f"{row['first']:.2f}",
                "-" if direct else f"{row['memory']:.0f}",
                "-" if start is None else f"{start:.2f}",
            )
        )
    return lines


def latency(results: Results) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = [("server", "wires", "at once", "requests a second", "p50 ms", "p99 ms", "CPU us")]
    for row in results["rows"]:
        for at_once in (int(key.partition("@")[2]) for key in row if key.startswith("p50@")):
            cells = [row[f"{key}@{at_once}"] for key in ("per_second", "p50", "p99", "cpu_us")]
            shown = (f"{cells[0]:,.0f}", f"{cells[1]:.2f}", f"{cells[2]:.2f}", f"{cells[3]:,.0f}")
            lines.append((row["server"], row["pair"], str(at_once), *shown))
    return lines


def report(results: Results) -> str:
    head = f"Python {results['python']}; the servers' own CPU ({AT} requests at once; 16 streams), the least of the rounds"
    targets = [f"{'met   ' if one['met'] else 'MISSED'}  {one['target']}" for one in results["targets"]]
    return "\n\n".join(
        [
            head,
            _aligned(table(results)),
            _aligned(latency(results)),
            "\n".join([*targets, "", *others(results), *quoted(results)]),
        ]
    )


def others(results: Results) -> list[str]:
    """The versions of other gateways, and what they could not be measured with."""
    lines = [f"{name} {version}" for name, version in results["versions"].items()]
    return [*([f"Others: {', '.join(lines)}"] if lines else []), *(f"Not measured: {one}" for one in results["missing"])]


def quoted(results: Results) -> list[str]:
    """Figures of others that this run has none of."""
    measured = {row["server"] for row in results["rows"]}
    lines = []
    for name, (ratio, chunk, memory, start) in QUOTED.items():
        if name.lower() not in measured:
            more = f", {memory} MB, started in {start} s" if memory else ""
            lines.append(f"{name}, as the plan quotes it and not measured here: {ratio}x the floor, {chunk:,} us a chunk{more}")
    return lines


def _aligned(lines: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = []
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
        cells += [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
        written.append("  ".join(cells).rstrip())
    return "\n".join([written[0], "  ".join("-" * width for width in widths), *written[1:]])


# -- the docs


def write(results: Results) -> None:
    """The tables of the page, and the picture."""
    targets = "\n".join(f"- {'met' if one['met'] else 'missed'}: {one['target']}" for one in results["targets"])
    content = "\n\n".join([_markdown(table(results)), _markdown(latency(results)), targets, *others(results), *quoted(results)])
    put("figures", content)
    draw(results)


def put(mark: str, content: str) -> None:
    """Replaces what stands between two marks of the page."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{begin}{content}\n{end}{after}", encoding="utf-8")


def _markdown(lines: list[tuple[str, ...]]) -> str:
    rule = ["---" if at < 2 else "--:" for at in range(len(lines[0]))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rule, *lines[1:]])


def draw(results: Results) -> None:
    import matplotlib as mpl  # noqa: PLC0415  (only for the docs)

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    rows = [row for row in results["rows"] if row["server"] != "direct"][::-1]
    names = [row["server"] if row["server"] == "floor" else f"{row['server']}: {row['pair']}" for row in rows]
    panels = {f"cpu_us@{AT}": "CPU of one request, us", "chunk_us": "CPU of one streamed chunk, us", "memory": "memory, MB"}
    limits = {f"cpu_us@{AT}": FLOOR_RATIO * _floor(results)[f"cpu_us@{AT}"], "chunk_us": CHUNK_US, "memory": MEMORY_MB}
    figure, axes = pyplot.subplots(1, len(panels), figsize=(13, 1.2 + 0.36 * len(rows)), sharey=True)
    for panel, (key, title) in zip(axes, panels.items(), strict=True):
        values = [row.get(key, 0.0) for row in rows]
        bars = panel.barh(names, values, color=[_COLOURS.get(row["server"], "#9aa0a6") for row in rows])
        panel.bar_label(bars, labels=[f"{value:,.0f}" if value else "" for value in values], padding=3, fontsize=8)
        panel.axvline(limits[key], color="#d93025", lw=1, ls="--")
        panel.set(title=f"{title} (logarithmic)", xscale="log")
        panel.title.set_fontsize(9)
        panel.set_xlim(min(filter(None, values)) / 2, max(*values, limits[key]) * 3)
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
    figure.text(0.01, 0.01, "dashed: the most that toolglot may take", color="#d93025", fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    pyplot.close(figure)
