from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tests.pipeline.answering import CITY, HELLO, PARIS, TIME, TOOLS, WEATHER, plan_for
from toolglot import CallerError, prepare
from toolglot.catalog.profile import Profile
from toolglot.core.messages import Media, Message, Text, ToolCall, ToolResult
from toolglot.core.request import Output, Request
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.grammars.nonce import NONCE_DIALECTS
from toolglot.io.json_codec import dumps
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.route import Route, resolve
from toolglot.pipeline.request.tool_mode import ModeCount

HISTORY = (
    Message("user", (Text("Weather in Paris?"),)),
    Message("assistant", (Text("I look."), ToolCall("c1", "get_weather", PARIS))),
    Message("tool", (ToolResult("c1", "get_weather", (Text("sunny"),)),)),
    Message("assistant", (Text("Sunny."),)),
    Message("user", (Text("And in Rome?"),)),
    Message("assistant", (ToolCall("c2", "get_weather", '{"city": "Rome"}'),)),
    Message("tool", (ToolResult("c2", "get_weather", (Text("rainy"),)),)),
)


def known(model: str = "openai/gpt-5", **facts: Any) -> Route:
    """A route to a model with these facts."""
    route = resolve(model)
    fields = {"model": "m", "family": "fam", "source": "test", **facts}
    return msgspec.structs.replace(route, profile=Profile(**fields))


def fitted(route: Route | str, ask: str = "auto", **request: Any) -> Plan:
    fields = {"messages": HELLO, "tools": TOOLS, **request}
    return fit_request(Request("m", **fields), resolve(route) if isinstance(route, str) else route, ask=ask)


def texts(plan: Plan) -> list[tuple[str, str]]:
    return [
        (message.role, "".join(part.text if isinstance(part, Text) else f"[{type(part).__name__}]" for part in message.parts))
        for message in plan.request.messages
    ]


# -- nothing to do


@pytest.mark.parametrize(
    ("model", "most"),
    [
        ("openai/gpt-5", None),
        ("ollama/gemma3:4b", None),
        ("llamacpp/some-model", None),
        ("ollama/qwen3:8b", None),
        ("local/smollm2", 100),  # without a limit it is given one
    ],
)
def test_a_plain_question_is_left_as_it_is(model: str, most: int | None) -> None:
    texts = (Message("user", (Text("Hello"),)), Message("assistant", (Text("Hi"),)))
    request = Request("m", messages=texts, max_tokens=most)
    plan = fit_request(request, resolve(model))
    assert plan.request is request
    assert (plan.notes, plan.text_dialect, plan.tool_mode.kind) == ((), None, "native")


def test_a_native_request_that_needs_nothing_is_left_as_it_is() -> None:
    request = Request("m", messages=HISTORY, tools=TOOLS, choice=Choice("required"))
    plan = fit_request(request, known())
    assert plan.request is request
    assert (plan.notes, plan.text_dialect, plan.tools, plan.choice) == ((), "auto", TOOLS, Choice("required"))


def test_prepare_adds_no_key() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": CITY}}
    body = prepare("hi", "openai/gpt-5", [tool]).body
    assert body["tools"] == [tool]
    assert body.keys() == {"model", "messages", "tools"}


# -- how many tools


def many(count: int) -> Toolset:
    return Toolset([*(Tool(f"tool_{at}", f"Handles case {at}", CITY) for at in range(count)), WEATHER])


@pytest.mark.parametrize("ask", ["native", "dialect:hermes", "constrained"])
def test_the_most_relevant_tools_are_kept_and_the_rest_is_noted(ask: str) -> None:
    route = known("llamacpp/x", max_tools=3)
    plan = fitted(route, ask, tools=many(9), messages=(Message("user", (Text("What is the weather in Rome?"),)),))
    assert any(
        "7 of 10 left out, because fam handles 3: tool_2, tool_3, tool_4, tool_5, tool_6, ..." in note for note in plan.notes
    )
    shown = str(plan.request)
    assert "get_weather" in shown
    assert "tool_1" in shown
    assert "tool_2" not in shown
    assert len(plan.tools) == 10


def test_server_tools_are_not_counted() -> None:
    tools = Toolset([Tool("web_search", kind="server", extra={"openai-chat": {"type": "web_search"}}), WEATHER, TIME])
    plan = fitted(known(max_tools=2), tools=tools)
    assert (plan.request.tools, plan.notes) == (tools, ())


# -- which way


def test_no_native_tools_to_a_model_that_can_not_take_them() -> None:
    for choice in (None, Choice("none"), Choice("required")):
        for server, mode in (("ollama", "constrained"), ("ollama-cloud", "dialect:tagged")):
            plan = fitted(known(f"{server}/x", supports_tools=False), choice=choice)
            assert plan.request.tools == ()
            assert any(f"tool mode: {mode}: " in note for note in plan.notes) == (choice != Choice("none"))


def test_calls_of_the_history_are_text_for_such_a_model_even_without_tools() -> None:
    for request in ({"tools": ()}, {"choice": Choice("none")}):
        plan = fitted(known("ollama-cloud/x", supports_tools=False), messages=HISTORY, **request)
        assert plan.request.tools == ()
        assert not any("[" in text for _, text in texts(plan))
        assert [role for role, _ in texts(plan)] == [*["user", "assistant"] * 3, "user"]
        assert plan.text_dialect is None


def test_what_worked_is_chosen() -> None:
    mode_counts = {"native": ModeCount(20, 2), "dialect:hermes": ModeCount(20, 19)}
    plan = fit_request(Request("m", messages=HELLO, tools=TOOLS), known(), mode_counts=mode_counts)
    assert plan.tool_mode.name == "dialect:hermes"
    assert plan.notes[0] == "tool mode: dialect:hermes: 19 of 20 calls were good, against 2 of 20 with native"


def test_a_mode_set_by_the_caller_is_not_noted() -> None:
    assert not any(note.startswith("tool mode") for note in fitted(known(), "dialect:hermes").notes)


# -- choice


def route_without_choice(*, constrains: bool = False) -> Route:
    """A server that ignores tool choices."""
    route = known("ollama/x")
    quirks = msgspec.structs.replace(route.provider.quirks, tool_choice=False)
    return msgspec.structs.replace(
        route, provider=msgspec.structs.replace(route.provider, constrains=constrains, quirks=quirks)
    )


def test_a_forbidden_choice_offers_no_tool_where_the_server_ignores_it() -> None:
    plan = fitted(route_without_choice(), choice=Choice("none"), messages=HISTORY)
    assert (plan.request.tools, plan.request.choice, plan.text_dialect) == ((), None, None)
    assert plan.notes == ("tool choice: none; no tools are sent, because ollama ignores it",)
    kept = fitted(known(), choice=Choice("none"))
    assert (kept.request.tools, kept.request.choice, kept.notes) == (TOOLS, Choice("none"), ())


def test_a_forced_choice_is_constrained_where_the_server_can() -> None:
    plan = fitted(route_without_choice(constrains=True), choice=Choice("required", ("get_time",)))
    assert plan.tool_mode.name == "constrained"
    assert plan.request.output is not None
    assert "get_weather" not in str(plan.request.output.schema)


def test_else_a_forced_choice_is_in_the_prompt_and_only_that_tool_is_sent() -> None:
    plan = fitted(route_without_choice(), choice=Choice("required", ("get_time",)))
    assert [tool.name for tool in plan.request.tools] == ["get_time"]
    assert plan.request.choice is None
    assert texts(plan)[0] == ("system", "Answer now with a call of get_time, and with nothing else.")
    assert [note for note in plan.notes if "choice" in note] == [
        "tool choice: only get_time sent, because ollama ignores it",
        "tool choice: required, stated in the prompt, because ollama ignores it",
    ]
    plan = fitted(route_without_choice(), choice=Choice("required"))
    assert (plan.request.tools[0].name, len(plan.request.tools)) == ("get_weather", 2)
    assert texts(plan)[0][1] == "Answer now with a call of at least one of the tools, and with nothing else."


def test_a_choice_among_some_offers_only_those() -> None:
    plan = fitted(route_without_choice(), choice=Choice("auto", ("get_time",)))
    assert [tool.name for tool in plan.request.tools] == ["get_time"]
    assert (texts(plan), len(plan.tools)) == ([("user", "Hello")], 2)
    unknown = fitted(route_without_choice(), choice=Choice("auto", ("nothing_like_it",)))
    assert len(unknown.request.tools) == 2
    assert "choice" not in str(unknown.notes)


# -- parallel


def test_parallel_calls_are_switched_off_where_the_model_can_not() -> None:
    alone: Any = {"supports_parallel": False}
    plan = fitted(known(**alone))
    assert (plan.request.parallel, plan.notes) == (False, ("parallel calls: off, because fam makes one at a time",))
    assert fitted(known(**alone), parallel=False).notes == ()
    assert fitted(known(**alone), tools=()).notes == ()
    assert fitted(known()).request.parallel is None
    no_switch = fitted(known("deepseek/x", **alone))
    assert (no_switch.request.parallel, no_switch.notes) == (None, ())


# -- turns


@pytest.mark.parametrize("multi_turn", ["poor", "good", "excellent"])
def test_native_calls_stay_native_in_every_turn(multi_turn: str) -> None:
    """Calls of earlier turns as text would change the prompt's beginning with each new question."""
    assert fitted(known(multi_turn=multi_turn, dialect="hermes"), messages=HISTORY).request.messages == HISTORY


def test_a_later_system_message_becomes_a_part_of_a_user_turn() -> None:
    late = Message("system", (Text("Be brief."),))
    first = (Message("system", (Text("A"),)), Message("developer", (Text("B"),)))
    plan = fitted(known(refuses=("late_system",)), messages=(*first, HISTORY[0], late, *HISTORY[1:4], late, HISTORY[4]))
    folded = "<system>\nBe brief.\n</system>"
    assert texts(plan) == [
        ("system", "A\n\nB"),
        ("user", f"Weather in Paris?\n\n{folded}"),
        ("assistant", "I look.[ToolCall]"),
        ("tool", "[ToolResult]"),
        ("assistant", "Sunny."),
        ("user", f"{folded}\n\nAnd in Rome?"),
    ]
    assert any("system messages: 2 later ones" in note for note in plan.notes)
    untouched = (*first[:1], *HISTORY)
    assert fitted(known(refuses=("late_system",)), messages=untouched).request.messages is untouched


def test_where_turns_alternate_an_assistant_stands_between_results_and_a_user() -> None:
    messages = (*HISTORY[:3], *HELLO)
    assert [role for role, _ in texts(fitted(known(refuses=("alternation",)), messages=messages))] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


# -- what the server takes


IMAGE = Media("image", "image/png", "iVBORw0KGgo=")


def test_images_become_text_for_a_model_that_sees_none() -> None:
    messages = (
        Message("user", (Text("Look"), IMAGE)),
        Message("assistant", (ToolCall("c1", "get_weather", PARIS),)),
        Message("tool", (ToolResult("c1", "get_weather", (IMAGE,)),)),
    )
    for vision in (None, True):
        assert fitted(known(vision=vision), messages=messages).request.messages == messages
    plan = fitted(known(vision=False), messages=messages)
    assert not any(isinstance(part, Media) for message in plan.request.messages for part in message.parts)
    assert "does not see images" in plan.request.messages[2].parts[0].text  # type: ignore[union-attr]
    assert [one.code for one in plan.decisions] == ["image_left_out"]
    assert plan.given == messages


@pytest.mark.parametrize(
    ("most", "asked", "sent"), [(8192, 64_000, 7680), (8192, 100, 100), (64, 64_000, 512), (None, 64_000, 64_000)]
)
def test_max_tokens_is_cut_to_what_the_window_leaves(most: int | None, asked: int, sent: int) -> None:
    plan = fitted(known(context_length=most), max_tokens=asked)
    assert plan.request.max_tokens is not None
    assert sent - 250 <= plan.request.max_tokens <= sent
    assert any("max_tokens" in note for note in plan.notes) == (asked != sent)


def test_max_tokens_is_cut_to_the_most_that_a_model_gives() -> None:
    plan = fitted(known(max_output=4096), max_tokens=9000)
    assert (plan.request.max_tokens, plan.notes) == (4096, ("max_tokens: 4096, the most that fam gives",))


@pytest.mark.parametrize("ask", ["native", "dialect:hermes", "constrained"])
def test_roles_that_a_template_refuses(ask: str) -> None:
    refuses = ("system", "tool", "alternation")
    messages = (Message("system", (Text("Be kind."),)), *HISTORY)
    plan = fitted(known("llamacpp/x", refuses=refuses, dialect="hermes"), ask, messages=messages)
    roles = [role for role, _ in texts(plan)]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
    assert not any("[Tool" in text for _, text in texts(plan))
    assert texts(plan)[0][1].startswith("Be kind.")
    assert texts(plan)[0][1].endswith("Weather in Paris?")
    assert any("system prompt" in note for note in plan.notes)


def test_neighbours_are_joined_only_where_turns_must_alternate() -> None:
    messages = (*HELLO, *HELLO)
    assert fitted(known(), messages=messages).request.messages == messages
    assert texts(fitted(known(refuses=("alternation",)), messages=messages)) == [("user", "Hello\n\nHello")]


# -- schemas


def test_schemas_are_fitted_and_calls_are_checked_against_the_original() -> None:
    fields = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
    tools = Toolset([Tool("f", "Does it", fields)])
    plan = fitted("ollama/qwen3:8b", tools=tools)
    sent = plan.request.tools[0].schema or {}
    assert "minimum" not in str(sent["properties"]["n"].keys())
    assert "3" in sent["properties"]["n"]["description"]
    assert plan.notes[1:] == ("schemas: moved to the description, because ollama does not support it: f (n: at least 3)",)
    assert plan.tools is tools
    assert tools[0].schema == fields


def test_what_a_root_can_not_say_moves_into_the_tool_s_description() -> None:
    fields = {"type": "object", "properties": {"n": {"type": "integer"}}, "minProperties": 1}
    (tool,) = fitted("ollama/qwen3:8b", tools=Toolset([Tool("f", "Does it.", fields)])).request.tools
    assert tool.description == "Does it. (at least 1 key)"


def test_strict_tools_take_the_strict_form_and_others_do_not() -> None:
    fields = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["city"]}
    plan = fitted("openai/gpt-5", tools=Toolset([Tool("a", schema=fields, strict=True), Tool("b", schema=fields)]))
    strict, plain = plan.request.tools
    assert (strict.schema or {})["required"] == ["city", "unit"]
    assert (strict.schema or {})["additionalProperties"] is False
    assert plain.schema == fields
    assert plan.filled == {"a"}


def test_strict_is_left_out_where_it_could_not_say_all() -> None:
    free = {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": {"type": "string"}}}}
    plan = fitted("openai/gpt-5", tools=Toolset([Tool("a", schema=free, strict=True)]))
    assert (plan.request.tools[0].strict, plan.filled) == (None, frozenset())
    assert plan.request.tools[0].schema == free
    assert any("without strict" in note for note in plan.notes)


def test_what_is_made_of_tools_is_made_once() -> None:
    fields = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}}
    tools = Toolset([Tool("f", schema=fields)])
    first, second = (fitted("ollama/qwen3:8b", tools=tools).request.tools for _ in range(2))
    assert first is second
    read = [fitted("ollama/qwen3:8b", tools=(Tool("f", schema=fields),)).request.tools for _ in range(2)]
    assert read[0] is read[1]


# -- tools of other kinds, and a schema for the answer


@pytest.mark.parametrize("ask", ["native", "dialect:fenced_json", "constrained"])
def test_tools_of_other_kinds_in_each_way(ask: str) -> None:
    tools = Toolset(
        [Tool("shell", "Runs it", kind="custom"), Tool("web_search", kind="server", extra={"anthropic": {"type": "x"}})]
    )
    plan = fitted("llamacpp/some-model", ask, tools=tools)
    assert "shell" in str(plan.request)
    assert plan.text_dialect is not None
    call = prepare("hi", "llamacpp/some-model", tools, ask=ask)
    assert "shell" in str(call.body)
    assert "web_search" not in str(call.body)
    assert any("web_search" in note for note in call.notes)


def test_a_schema_for_the_answer_in_each_way() -> None:
    output = Output(CITY)
    assert fitted(known(), output=output).request.output is output
    by_prompt = fitted(known(), "dialect:hermes", output=output)
    assert by_prompt.request.output is None
    assert '"city"' in texts(by_prompt)[0][1].partition("# Tools")[0]
    assert any(note.startswith("response schema: stated in the prompt") for note in by_prompt.notes)
    default = fitted(known(), "dialect:hermes", output=output, choice=Choice("none"))
    assert default.request.output is output
    constrained = fitted(known(), "constrained", output=output)
    assert constrained.request.output is not output  # that of the calls; the caller's schema is for the text answer
    assert constrained.plain is not None
    assert constrained.plain().output is output


# -- nonce


def test_a_nonce_goes_with_a_dialect() -> None:
    with pytest.raises(CallerError, match="nonce"):
        plan_for("openai/gpt-5", nonce="k3yk3y")
    assert plan_for("openai/gpt-5", ask="dialect:tagged", nonce="k3yk3y").nonce == "k3yk3y"
    assert plan_for("openai/gpt-5", ask="dialect:tagged", nonce="k3yk3y", tools=()).text_dialect is None


SECRET = b"0123456789abcdef"


def derived(ask: str = "dialect:tagged", *, secret: bytes = SECRET, supports: bool = True, **request: Any) -> Plan:
    fields = {"messages": HELLO, "tools": TOOLS, **request}
    return fit_request(Request("m", **fields), known(supports_nonce=supports), ask=ask, nonce_secret=secret)


def test_a_nonce_is_derived_where_the_model_copies_it() -> None:
    plan = derived()
    assert plan.nonce is not None
    assert f"~~~tool_call {plan.nonce}\n" in texts(plan)[0][1]
    assert derived(supports=False).nonce is None
    assert derived(secret=b"").nonce is None
    assert derived("native").nonce is None
    assert derived("dialect:pythonic").nonce is None  # no place for one in its markers
    assert derived(tools=()).nonce is None
    assert derived(choice=Choice("none")).nonce is None


def test_the_derived_nonce_depends_on_the_beginning_of_the_conversation_and_on_the_secret() -> None:
    other = (Message("user", (Text("Something else"),)),)
    system = (Message("system", (Text("Be brief."),)), *HELLO)
    nonces = [
        derived(messages=messages, secret=secret).nonce for messages in (HELLO, other, system) for secret in (SECRET, b"x" * 16)
    ]
    assert len(set(nonces)) == len(nonces)
    parts = [msgspec.structs.replace(part, extra={"anthropic": {"cache_control": {}}}) for part in HELLO[0].parts]
    marked = (msgspec.structs.replace(HELLO[0], parts=tuple(parts)),)
    assert derived(messages=marked).nonce == derived().nonce  # clients move these marks from turn to turn


@pytest.mark.parametrize("dialect", NONCE_DIALECTS)
def test_with_a_derived_nonce_each_prompt_begins_like_the_one_before(dialect: str) -> None:
    for system in ((), (Message("system", (Text("Be brief."),)),)):
        turns = [texts(derived(f"dialect:{dialect}", messages=(*system, *HISTORY[:end]))) for end in (1, 3, 5, 7)]
        for before, after in pairwise(turns):
            *same, (role, last) = before
            shown = last.partition("\n\nNow answer")[0]  # a reminder behind the latest results
            assert after[: len(before)] == [*same, (role, shown)]


# -- room


LONG = (Message("user", (Text("many words " * 3000),)),)


def test_a_prompt_that_will_be_cut_is_noted() -> None:
    plan = fitted("ollama/qwen3:8b", messages=LONG)
    (note,) = [note for note in plan.notes if note.startswith("context")]
    assert "window of ollama is 4096" in note
    assert "silently cuts the beginning" in note
    assert "start the server with a larger window" in note
    assert not any(note.startswith("context") for note in fitted("ollama/qwen3:8b").notes)
    assert not any(note.startswith("context") for note in fitted("openai/gpt-5", messages=LONG).notes)


def test_a_larger_window_is_requested_if_the_api_has_an_option() -> None:
    options = {"messages": "many words " * 3000, "tools": [WEATHER], "larger_context": True}
    call = prepare(model="ollama/qwen3:8b", wire="ollama", **options)  # type: ignore[arg-type]
    assert call.url == "http://127.0.0.1:11434/api/chat"
    assert call.body["options"] == {"num_ctx": 16384}
    assert any("window of 16384" in note for note in call.notes)
    assert "num_ctx" not in str(prepare(model="ollama/qwen3:8b", **options).body)  # type: ignore[arg-type]
    del options["larger_context"]
    default = prepare(model="ollama/qwen3:8b", wire="ollama", **options)  # type: ignore[arg-type]
    assert "options" not in default.body
    assert any("set larger_context" in note for note in default.notes)


def test_a_window_set_by_the_caller_counts() -> None:
    route = resolve("ollama/qwen3:8b", "ollama")
    for size, noted in ((20_000, False), (5_000, True)):
        extra = {"ollama": {"options": {"num_ctx": size, "mirostat": 1}}}
        plan = fit_request(Request("m", messages=LONG, extra=extra), route)
        assert any(f"is {size}" in note for note in plan.notes) == noted
    larger = fit_request(Request("m", messages=LONG, extra=extra), route, larger_context=True)
    assert larger.request.extra["ollama"]["options"] == {"num_ctx": 16384, "mirostat": 1}


def test_no_more_than_the_limit_of_the_model_is_requested() -> None:
    route = msgspec.structs.replace(resolve("ollama/x", "ollama"), profile=known(context_length=8192).profile)
    plan = fit_request(Request("m", messages=LONG), route, larger_context=True)
    assert plan.request.extra == {}
    assert len(plan.notes) == 1


@pytest.mark.parametrize(
    ("model", "given", "sent"), [("local/smollm2", None, 1024), ("local/smollm2", 50, 50), ("ollama/qwen3:8b", None, None)]
)
def test_a_tiny_model_gets_a_token_limit(model: str, given: int | None, sent: int | None) -> None:
    request = Request("x", (Message("user", (Text("Tell me about tea."),)),), max_tokens=given)
    plan = fit_request(request, resolve(model))
    assert plan.request.max_tokens == sent
    assert any("may not stop" in note for note in plan.notes) == (given != sent)


@pytest.mark.parametrize(
    ("request_options", "names", "none", "most"),
    [
        ({}, ["get_weather", "get_time"], True, 8),
        ({"choice": Choice("required")}, ["get_weather", "get_time"], False, 8),
        ({"choice": Choice("required", ("get_time",))}, ["get_time"], False, 8),
        ({"parallel": False}, ["get_weather", "get_time"], True, 1),
        ({"choice": Choice("required", ("get_time",)), "parallel": False}, ["get_time"], False, 1),
    ],
)
def test_every_choice_goes_through_the_same_schema(
    request_options: dict[str, Any], names: list[str], none: bool, most: int
) -> None:
    tools = (Tool("get_weather", schema={"type": "object"}), Tool("get_time", schema={"type": "object"}))
    for model in ("llamacpp/qwen2.5-coder-0.5b", "ollama/gemma3-4b"):
        request = Request("m", messages=HELLO, tools=tools, **request_options)
        plan = fit_request(
            request, resolve(model), ask="auto" if model.startswith("llama") or "choice" in request_options else "constrained"
        )
        assert plan.tool_mode.kind == "constrained"
        assert plan.request.output is not None
        schema = dumps(plan.request.output.schema)
        assert [name for name in ("get_weather", "get_time") if f'"{name}"' in schema] == names
        assert ('"no_tool"' in schema, f'"maxItems":{most}' in schema.replace(" ", "")) == (none, True)
        assert (plan.plain is not None) is none
