"""A sample conversation of a coding agent: twenty tools and the messages so far, independent of any wire."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

SYSTEM = (
    "You are the release assistant of a mid-sized team. You read code, run the checks, look after issues and deployments, and "
    "report what you found with the evidence beside it. Prefer small steps: look before you change, and say which file and "
    "line you mean. Never deploy on a Friday afternoon without being told twice. Dates are ISO 8601, times are UTC. When "
    "several look-ups do not depend on each other, ask for them at once. Do not guess at identifiers: search for them first."
)

# -- schemas, from small words


def text(about: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, **more}


def number(about: str, low: int = 0, high: int = 1000) -> Schema:
    return {"type": "integer", "description": about, "minimum": low, "maximum": high}


def flag(about: str, default: bool = False) -> Schema:
    return {"type": "boolean", "description": about, "default": default}


def word(about: str, *choices: str) -> Schema:
    return {"type": "string", "enum": list(choices), "description": about}


def several(of: Schema, about: str) -> Schema:
    return {"type": "array", "items": of, "description": about, "minItems": 1}


def shape(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


PATH = text("Path below the root of the repository, with forward slashes.")
RANGE = shape(["first", "last"], first=number("First line, counted from 1.", 1, 10**6), last=number("Last line.", 1, 10**6))
PAGE = shape([], size=number("Entries on a page.", 1, 100), after=text("The cursor that the page before gave."))
PERSON = shape(["login"], login=text("Account name."), role=word("What they are asked to do.", "review", "approve", "watch"))
WINDOW = shape(
    ["since"], since=text("Start, inclusive.", format="date-time"), until=text("End, exclusive.", format="date-time")
)
EDIT = shape(["old", "new"], old=text("The exact text that stands there now."), new=text("What shall stand there."))
WHERE = shape(["field", "is"], field=text("A field's name."), **{"is": {"anyOf": [text("A value."), number("A count.")]}})

TOOLS: list[tuple[str, str, Schema]] = [
    ("read_file", "Read a file, or a range of its lines, as it is on a branch.",
     shape(["path"], path=PATH, lines=RANGE, branch=text("A branch or a commit; the default branch if left out."))),
    ("search_code", "Search the repository for a text or a regular expression and get the lines with their surroundings.",
     shape(["pattern"], pattern=text("What to look for."), regex=flag("The pattern is a regular expression."),
           folders=several(PATH, "Only below these folders."), context=number("Lines around each hit.", 0, 20), page=PAGE)),
    ("list_folder", "List what a folder holds, with sizes and the last change of each entry.",
     shape(["path"], path=PATH, depth=number("How deep to go.", 1, 10), hidden=flag("Also show hidden entries."))),
    ("edit_file", "Replace pieces of a file. Every piece must occur exactly once, or nothing is changed.",
     shape(["path", "edits"], path=PATH, edits=several(EDIT, "The replacements, from top to bottom."),
           reason=text("One sentence for the log."))),
    ("run_checks", "Run checks on a branch and wait for their end. Gives the failures with the last lines of their output.",
     shape(["kinds"], kinds=several(word("A kind of check.", "unit", "types", "lint", "integration"), "Which checks to run."),
           branch=text("The branch."), only=several(PATH, "Only the tests in these files."), fail_fast=flag("Stop early."))),
    ("list_commits", "List the commits of a branch, newest first, with author, date and subject.",
     shape([], branch=text("The branch."), path=PATH, window=WINDOW, page=PAGE)),
    ("show_commit", "Show one commit: the message, the files it touches and, if wanted, the whole difference.",
     shape(["commit"], commit=text("Its hash, in full or shortened."), difference=flag("Include the difference.", True))),
    ("open_pull_request", "Open a pull request from a branch and ask people for their word on it.",
     shape(["title", "head"], title=text("A short title.", maxLength=120), head=text("The branch with the work."),
           base=text("Where it shall go."), body=text("Why, and what was done."), people=several(PERSON, "Whom to ask."),
           draft=flag("Not ready to be merged."))),
    ("comment", "Write a comment on an issue or a pull request, or on a line of its difference.",
     shape(["on", "text"], on=shape(["kind", "number"], kind=word("What it is.", "issue", "pull_request"),
                                    number=number("Its number.", 1, 10**6)),
           text=text("The comment, in Markdown."), at=shape(["path", "line"], path=PATH, line=number("The line.", 1, 10**6)))),
    ("search_issues", "Find issues and pull requests by words, labels, people and state.",
     shape([], words=text("Words that must occur."), labels=several(text("A label."), "All of these labels."),
           state=word("Their state.", "open", "closed", "any"), author=text("Who opened it."), window=WINDOW, page=PAGE)),
    ("update_issue", "Change an issue: its title, labels, state, or who looks after it.",
     shape(["number"], number=number("Its number.", 1, 10**6), title=text("A new title."),
           labels=several(text("A label."), "Exactly these labels."), state=word("A new state.", "open", "closed"),
           people=several(PERSON, "Who looks after it."))),
    ("list_deployments", "List the deployments of a service, with version, state and who started each.",
     shape(["service"], service=text("The service."), stage=word("Where.", "staging", "canary", "production"),
           window=WINDOW, page=PAGE)),
    ("deploy", "Start a deployment. It is watched, and taken back by itself where the limits are passed.",
     shape(["service", "version", "stage"], service=text("The service."), version=text("A version, as in v1.2.3."),
           stage=word("Where.", "staging", "canary", "production"),
           limits=shape([], errors=number("Errors in a thousand requests.", 0, 1000), latency=number("p99 in ms.", 1, 60000)),
           share=number("Per cent of the traffic.", 1, 100))),
    ("roll_back", "Take a service back to the version that ran before, or to one that is named.",
     shape(["service", "reason"], service=text("The service."), to=text("The version."), reason=text("For the log."))),
    ("query_metrics", "Read a metric of a service over a span of time, grouped and summarised.",
     shape(["service", "metric", "window"], service=text("The service."),
           metric=word("Which one.", "requests", "errors", "latency_p50", "latency_p99", "cpu", "memory"),
           window=WINDOW, step=text("The width of a step, as in 1m or 1h."),
           where=several(WHERE, "Only where all of these hold."),
           by=several(text("A label."), "Grouped by these."))),
    ("search_logs", "Search the logs of services for words, with filters on level, fields and time.",
     shape(["services", "window"], services=several(text("A service."), "In these services."), words=text("Words that occur."),
           level=word("At least this level.", "debug", "info", "warning", "error"),
           where=several(WHERE, "Only where these hold."), window=WINDOW, page=PAGE)),
    ("read_document", "Read a page of the team's handbook by its address or its title.",
     shape([], title=text("Its title."), address=text("Its address.", format="uri"),
           sections=several(text("A heading."), "Only these."))),
    ("ask_person", "Send somebody a question and wait for the answer, for as long as is said.",
     shape(["login", "question"], login=text("Whom."), question=text("What."), minutes=number("How long to wait.", 1, 480),
           choices=several(text("An answer."), "Answers to choose from."))),
    ("schedule", "Put an event into the team's calendar, once or again and again.",
     shape(["title", "start"], title=text("What it is."), start=text("When.", format="date-time"),
           minutes=number("How long.", 5, 480), people=several(PERSON, "Who takes part."),
           again=shape(["every"], every=word("How often.", "day", "week", "month"),
                       until=text("The last day.", format="date")))),
    ("current_time", "The time now, and whether the team is at work.", shape([])),
]  # fmt: skip

# -- the messages. An assistant's turn is (text or None, its calls); a call is (name, arguments, the tool's answer).

Call = tuple[str, dict[str, Any], str]
Turn = str | tuple[str | None, list[Call]]

TURNS: list[Turn] = [
    "Checkout has been slow since this morning. Can you find out what changed, and whether we should take it back?",
    ("I'll look at the latest deployments and at the latency side by side.", [
        ("list_deployments", {"service": "checkout", "stage": "production", "page": {"size": 5}},
         '[{"version":"v4.18.0","state":"live","started":"2026-03-12T07:41:09Z","by":"mira"},'
         '{"version":"v4.17.3","state":"replaced","started":"2026-03-10T13:02:55Z","by":"jonas"}]'),
        ("query_metrics", {"service": "checkout", "metric": "latency_p99", "step": "1h",
                           "window": {"since": "2026-03-12T04:00:00Z", "until": "2026-03-12T10:00:00Z"}},
         '{"unit":"ms","points":[212,208,219,655,702,731],"from":"2026-03-12T04:00:00Z","step":"1h"}'),
    ]),
    ("p99 went from about 210 ms to 700 ms in the hour in which v4.18.0 went live (07:41 UTC). "
     "I would look at what is in it next.", []),
    "Please do. Mira says that it was only a small change to how the basket is priced.",
    (None, [
        ("list_commits", {"branch": "v4.18.0", "window": {"since": "2026-03-10T13:00:00Z"}, "page": {"size": 20}},
         "9f31c07 mira  Price the basket with the new rules\n77ab120 jonas  Bump the currency table\n"
         "1d0e4fe mira  Read the rules from the database, not from the file\n03c9a11 bot  Update translations"),
    ]),
    ("Two of these could matter. I'll read both, and the place where the rules are used.", [
        ("show_commit", {"commit": "1d0e4fe", "difference": True},
         "Read the rules from the database, not from the file\n\n src/pricing/rules.py | 24 ++++++++++++++----------\n"
         "-RULES = load_rules(RULES_FILE)\n+def rules_for(item):\n+    with session() as db:\n"
         "+        return db.query(Rule).filter(Rule.kind == item.kind).order_by(Rule.rank).all()\n"),
        ("show_commit", {"commit": "9f31c07", "difference": True},
         "Price the basket with the new rules\n\n src/pricing/basket.py | 9 +++++----\n-    for rule in RULES:\n"
         "+    for item in basket.items:\n+        for rule in rules_for(item):\n"
         "             total = rule.apply(item, total)\n"),
        ("search_code", {"pattern": "rules_for(", "folders": ["src/pricing", "src/checkout"], "context": 2,
                         "page": {"size": 10}},
         "src/pricing/basket.py:41: for rule in rules_for(item):\nsrc/checkout/preview.py:88: rules = rules_for(line)\n"
         "src/checkout/preview.py:131: return [r.label for r in rules_for(line)]"),
    ]),
    ("The cause is in 1d0e4fe together with 9f31c07: `rules_for` asks the database once for every item of the basket, where "
     "the rules were read from a file once before. A basket of thirty items is thirty queries, and the preview "
     "asks again.", []),
    "That sounds right. Take it back in production if the errors are up as well, and open an issue with the evidence.",
    ("First the errors.", [
        ("query_metrics", {"service": "checkout", "metric": "errors", "step": "1h", "by": ["route"],
                           "where": [{"field": "status", "is": "504"}, {"field": "region", "is": "eu"}],
                           "window": {"since": "2026-03-12T04:00:00Z", "until": "2026-03-12T10:00:00Z"}},
         '{"unit":"1/1000","series":{"/basket":[1,1,1,14,19,22],"/preview":[0,1,0,9,11,12]},"step":"1h"}'),
    ]),
    ("Errors rose to 22 in a thousand: I am taking it back, and gather what the issue needs meanwhile.", [
        ("roll_back", {"service": "checkout", "to": "v4.17.3", "reason": "p99 700 ms and 2.2 % errors since v4.18.0 (1d0e4fe)"},
         '{"state":"done","version":"v4.17.3","took_seconds":48}'),
        ("search_issues", {"words": "checkout slow basket", "state": "open", "labels": ["performance"], "page": {"size": 5}},
         '{"found":0,"issues":[]}'),
        ("search_logs", {"services": ["checkout", "pricing-db"], "level": "warning", "words": "slow query",
                         "window": {"since": "2026-03-12T07:40:00Z", "until": "2026-03-12T08:00:00Z"}, "page": {"size": 3}},
         "07:42:10 pricing-db WARNING slow query 412 ms: SELECT ... FROM rule WHERE kind = $1 ORDER BY rank\n"
         "07:42:11 pricing-db WARNING 118 connections in use, 120 allowed\n07:42:14 checkout ERROR 504 /basket after 5000 ms"),
    ]),
]  # fmt: skip

# -- what the model answers next

REPLY_TEXT = (
    "The service is back on v4.17.3. There is no open issue about it yet, so I am opening one with what we know: the two "
    "commits, the curve of the latency, the errors by route and the slow query in the log of the database. I am also asking "
    "Mira whether the rules may be kept in memory for a minute, which would take the "
    "queries from one for each item to one for each minute."
)
REPLY_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("update_issue", {
        "number": 2291, "title": "checkout v4.18.0: one query for each item of the basket", "state": "open",
        "labels": ["performance", "regression", "checkout"],
        "people": [{"login": "mira", "role": "approve"}, {"login": "jonas", "role": "watch"}]}),
    ("ask_person", {
        "login": "mira", "minutes": 60, "choices": ["yes, for a minute", "yes, for less", "no"],
        "question": "May `rules_for` keep the rules of a kind in memory for a minute? It asks the database for every item "
                    "since 1d0e4fe."}),
]  # fmt: skip
