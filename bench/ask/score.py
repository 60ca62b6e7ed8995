"""Tables of the answers that `run.py` saved.

python bench/ask/score.py                 # all saved answers, for both models
python bench/ask/score.py --kinds         # also by kind of question
python bench/ask/score.py --questions 60  # of the first 60 questions only
python bench/ask/score.py --tuning        # the tuning questions
python bench/ask/score.py --show WAY ID   # one answer and its parsed calls (with --model)
python bench/ask/score.py --check         # exit code 1 if another mode is clearly better than the profile's
python bench/ask/score.py --write         # the tables of docs/reference/ask.md, and its plot
"""

from __future__ import annotations

import argparse
from pathlib import Path

from trial import MODELS, REQUIRED, TITLES, for_tuning, judged, place, read_saved

from judge import UNPARSED, Judged, against, calls_of, chosen, judge_all, parse, rivals, spent, summed
from plot import draw
from toolglot.evaluation.questions import Question

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PLOT = DOCS / "reference" / "ask.md", DOCS / "assets" / "ask.png"
MARKS = "<!-- tables: bench/ask/score.py --write -->", "<!-- end of the tables -->"
MEASURES = {"valid": "valid", "right_tool": "right tool", "right_arguments": "right arguments", "false_calls": "false calls"}
KINDS = ("one", "several", "nested", "parallel", "no_call")
_NOISE = 0.05

Found = dict[str, list[Judged]]


def table(model: str, found: Found, *, kinds: bool = False) -> str:
    profile_mode = chosen(model)
    heads = ["asked", "questions", *MEASURES.values(), "**all right**", "tokens in + out", "s"]
    heads += KINDS if kinds else ()
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(['---', *['--:'] * (len(heads) - 1)])}|"]
    for tool_mode, rows in found.items():
        shares = summed(rows)
        prompt, answer, seconds = spent(rows)
        cells = [f"**{tool_mode}** (the profile's)" if tool_mode == profile_mode else tool_mode, str(len(rows))]
        cells += [str(shares.overall[name]) for name in MEASURES]
        cells += ["-" if tool_mode == REQUIRED else f"**{shares.overall['right']}**"]
        cells += [f"{prompt:.0f} + {answer:.0f}", f"{seconds:.1f}"]
        if kinds:
            by = (shares.by_tag.get(kind) for kind in KINDS)
            cells += ["-" if one is None else f"{one['right'].hits}/{one['right'].of}" for one in by]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def verdict(model: str, found: Found) -> tuple[bool, str]:
    """Whether the profile's tool mode is the best, or within noise of it."""
    profile_mode = chosen(model)
    if profile_mode not in found:
        return True, f"There are no answers in the profile's mode, {profile_mode}."
    pairs = {tool_mode: against(found[profile_mode], found[tool_mode]) for tool_mode in rivals(found, profile_mode)}
    best = max(pairs, key=lambda tool_mode: (pairs[tool_mode][1] - pairs[tool_mode][0], tool_mode), default=None)
    if best is None:
        return True, "No other mode has enough answers to compare."
    better, worse, chance = pairs[best]
    if worse <= better:
        return (
            True,
            f"No other mode is right more often than the profile's ({profile_mode}); next is {best}, {worse} against {better}.",
        )
    within = chance >= _NOISE
    found_out = "within noise" if within else "clearly better"
    difference = f"right in {worse} questions in which {profile_mode} is wrong, and wrong in {better} others"
    return within, f"{best} is {difference}: {found_out} (sign test, p = {chance:.2f})."


def summary_text(model: str, found: Found, stale: int) -> str:
    """The sentences below a table."""
    every = [row for tool_mode, rows in found.items() if tool_mode != UNPARSED for row in rows]
    sentences = [
        verdict(model, found)[1],
        f"{sum(row.cut for row in every)} of {len(every)} answers were cut short at the token limit.",
    ]
    if refused := sum(row.refused for row in every):
        sentences.append(f"{refused} were rejected by the server.")
    if stale:
        sentences.append(f"{stale} more are left out: their request has changed.")
    return " ".join(sentences)


def page_tables(every: dict[str, Found], stale: dict[str, int]) -> str:
    parts = []
    for model, found in every.items():
        parts += [f"### {TITLES[model]}", table(model, found), summary_text(model, found, stale[model])]
    return "\n\n".join(parts)


def write(every: dict[str, Found], stale: dict[str, int]) -> None:
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{page_tables(every, stale)}\n\n{MARKS[1]}{after}")
    draw({TITLES[model]: found for model, found in every.items()}, {TITLES[model]: chosen(model) for model in every}, PLOT)


def show(model: str, tool_mode: str, id: str, questions: list[Question], *, tuning: bool) -> None:
    question = next(one for one in questions if one.id == id)
    for row in read_saved(place(model, tuning=tuning)):
        if (row.tool_mode, row.question) == (tool_mode, id):
            reply = parse(model, row, question)
            print(row.request, row.answer, question.gold, calls_of(reply), reply.decisions, sep="\n\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=list(MODELS), action="append")
    parser.add_argument("--questions", type=int, metavar="N")
    parser.add_argument("--show", nargs=2, metavar=("WAY", "ID"))
    for flag in ("--kinds", "--tuning", "--check", "--write"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    questions = for_tuning(1000) if options.tuning else judged(options.questions)
    models = options.model or list(MODELS)
    if options.show:
        show(models[0], *options.show, questions, tuning=options.tuning)
        return 0
    judged_now = {model: judge_all(model, place(model, tuning=options.tuning), questions) for model in models}
    every = {model: found for model, (found, _) in judged_now.items() if found}
    stale = {model: left for model, (_, left) in judged_now.items()}
    for model, found in every.items():
        print(f"\n{TITLES[model]}\n\n{table(model, found, kinds=options.kinds)}\n\n{summary_text(model, found, stale[model])}")
    if options.write:
        write(every, stale)
    return int(options.check and not all(verdict(model, found)[0] for model, found in every.items()))


if __name__ == "__main__":
    raise SystemExit(main())
