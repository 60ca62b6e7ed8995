"""The plot for the docs: for each model and tool mode, the share of right answers and of false calls, with intervals."""

from __future__ import annotations

from pathlib import Path

from trial import REQUIRED

from judge import Judged, summed

_COLOURS = {"right": "#188038", "right_arguments": "#1a73e8", "false_calls": "#d93025"}
_NAMES = {
    "right": "all right (no call if none is expected)",
    "right_arguments": "right call, if one is expected",
    "false_calls": "false call, if none is expected",
}


def draw(every: dict[str, dict[str, list[Judged]]], profile_mode: dict[str, str], path: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415  (only for the docs)

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    rows = max(len(found) for found in every.values())
    figure, panels = pyplot.subplots(1, len(every), figsize=(6.4 * len(every), 1.6 + 0.62 * rows), squeeze=False)
    for panel, (title, found) in zip(panels[0], every.items(), strict=True):
        _panel(panel, title, found, profile_mode[title])
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _panel(panel, title: str, found: dict[str, list[Judged]], profile_mode: str) -> None:  # type: ignore[no-untyped-def]
    tool_modes = list(reversed(found))
    for at, measure in enumerate(_COLOURS):
        for place, tool_mode in enumerate(tool_modes):
            rate = summed(found[tool_mode]).overall[measure]
            if rate.share is None or (tool_mode == REQUIRED and measure == "right"):
                continue
            low, high = rate.interval
            reach = [[max(0.0, rate.share - low)], [max(0.0, high - rate.share)]]
            label = _NAMES[measure] if place == len(tool_modes) - 1 else None
            panel.errorbar(
                rate.share, place + 0.22 - 0.22 * at, xerr=reach, fmt="o", color=_COLOURS[measure], ms=5, lw=1.4, label=label
            )
    panel.set_yticks(
        range(len(tool_modes)),
        [f"{tool_mode}{' *' if tool_mode == profile_mode else ''} ({len(found[tool_mode])})" for tool_mode in tool_modes],
    )
    panel.set_xlim(-0.03, 1.03)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    panel.grid(axis="x", alpha=0.3)
    panel.set_title(f"{title}\n(questions asked), 95 % intervals; * is the profile's choice", fontsize=10)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
