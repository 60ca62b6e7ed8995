"""Tables of what `run.py` has kept.

python bench/ask/score.py                 # what there is, for both models
python bench/ask/score.py --kinds         # right answers by kind of question too
python bench/ask/score.py --questions 60  # of the first 60 questions only
python bench/ask/score.py --tuning        # the questions that wordings are tried on
python bench/ask/score.py --show WAY ID   # one answer, and what was made of it (with --model)
python bench/ask/score.py --check         # exit code 1 where another way is clearly better than the profile's
python bench/ask/score.py --write         # the tables of docs/reference/ask.md, and its plot
"""

from __future__ import annotations

import argparse
from pathlib import Path

from judge import UNHEARD, Judged, against, calls_of, chosen, hear, judge_all, rivals, spent, summed
from trial import MODELS, REQUIRED, TITLES, for_tuning, judged, place, read_kept

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
    own = chosen(model)
    heads = ["asked", "questions", *MEASURES.values(), "**all right**", "tokens in + out", "s"]
    heads += KINDS if kinds else ()
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(['---', *['--:'] * (len(heads) - 1)])}|"]
    for way, rows in found.items():
        shares = summed(rows)
        prompt, answer, seconds = spent(rows)
        cells = [f"**{way}** (the profile's)" if way == own else way, str(len(rows))]
        cells += [str(shares.overall[name]) for name in MEASURES]
        cells += ["-" if way == REQUIRED else f"**{shares.overall['right']}**"]
        cells += [f"{prompt:.0f} + {answer:.0f}", f"{seconds:.1f}"]
        if kinds:
            by = (shares.by_tag.get(kind) for kind in KINDS)
            cells += ["-" if one is None else f"{one['right'].hits}/{one['right'].of}" for one in by]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def verdict(model: str, found: Found) -> tuple[bool, str]:
    """Whether the profile's way is the best, or within noise of it."""
    own = chosen(model)
    if own not in found:
        return True, f"The profile's way, {own}, was not asked."
    pairs = {way: against(found[own], found[way]) for way in rivals(found, own)}
    best = max(pairs, key=lambda way: (pairs[way][1] - pairs[way][0], way), default=None)
    if best is None:
        return True, "No other way was asked often enough to compare."
    better, worse, chance = pairs[best]
    if worse <= better:
        return True, f"No other way is right more often than the profile's ({own}); next is {best}, {worse} against {better}."
    within = chance >= _NOISE
    found_out = "within noise" if within else "clearly better"
    said = f"right in {worse} questions where the profile's way ({own}) is wrong, and wrong in {better} where that is right"
    return within, f"{best} is {said}: {found_out} (sign test, p = {chance:.2f})."


def told(model: str, found: Found, stale: int) -> str:
    """What a reader of the table should know."""
    every = [row for way, rows in found.items() if way != UNHEARD for row in rows]
    said = [verdict(model, found)[1], f"{sum(row.cut for row in every)} of {len(every)} answers were cut off at the limit."]
    if refused := sum(row.refused for row in every):
        said.append(f"{refused} were refused by the server.")
    if stale:
        said.append(f"{stale} more are left out: they were given to another request than would be sent today.")
    return " ".join(said)


def page_tables(every: dict[str, Found], stale: dict[str, int]) -> str:
    parts = []
    for model, found in every.items():
        parts += [f"### {TITLES[model]}", table(model, found), told(model, found, stale[model])]
    return "\n\n".join(parts)


def write(every: dict[str, Found], stale: dict[str, int]) -> None:
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{page_tables(every, stale)}\n\n{MARKS[1]}{after}")
    draw({TITLES[model]: found for model, found in every.items()}, {TITLES[model]: chosen(model) for model in every}, PLOT)


def show(model: str, way: str, id: str, questions: list[Question], *, tuning: bool) -> None:
    question = next(one for one in questions if one.id == id)
    for row in read_kept(place(model, tuning=tuning)):
        if (row.way, row.question) == (way, id):
            reply = hear(model, row, question)
            print(row.request, row.answer, question.gold, calls_of(reply), reply.decisions, sep="\n\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=list(MODELS), action="append")
    parser.add_argument("--questions", type=int, metavar="N")
    parser.add_argument("--show", nargs=2, metavar=("WAY", "ID"))
    for flag in ("--kinds", "--tuning", "--check", "--write"):
        parser.add_argument(flag, action="store_true")
    given = parser.parse_args()
    questions = for_tuning(1000) if given.tuning else judged(given.questions)
    models = given.model or list(MODELS)
    if given.show:
        show(models[0], *given.show, questions, tuning=given.tuning)
        return 0
    judged_now = {model: judge_all(model, place(model, tuning=given.tuning), questions) for model in models}
    every = {model: found for model, (found, _) in judged_now.items() if found}
    stale = {model: left for model, (_, left) in judged_now.items()}
    for model, found in every.items():
        print(f"\n{TITLES[model]}\n\n{table(model, found, kinds=given.kinds)}\n\n{told(model, found, stale[model])}")
    if given.write:
        write(every, stale)
    return int(given.check and not all(verdict(model, found)[0] for model, found in every.items()))


if __name__ == "__main__":
    raise SystemExit(main())
