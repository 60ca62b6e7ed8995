from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, Toolset
from toolglot.grammars.parsed_call import ParsedCall
from toolglot.pipeline.response.call_validator import MAX_CALLS, Policy, reject_malformed, validate, validate_call
from toolglot.schema.loose_json import MAX_DEPTH
from toolglot.schema.relaxed_json import MAX_SIZE

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "any": {}},
    "required": ["city"],
}
BASH = Tool("bash_20250124", kind="server", extra={"anthropic": {"type": "bash_20250124", "name": "bash"}})
TOOLS = Toolset(
    [
        Tool("get_weather", schema=SCHEMA),
        Tool("now"),
        Tool("odd", schema={"type": "dict", "properties": {"n": {"type": "int"}}}),
        Tool("patch", kind="custom"),
        Tool("read", namespace="fs", schema={"type": "object"}),
        BASH,
    ]
)


def _call(arguments: str, name: str = "get_weather", **fields: Any) -> ToolCall:
    return ToolCall("c1", name, arguments, **fields)


def _codes(call: ParsedCall | ToolCall, policy: Policy = "balanced", **options: Any) -> list[str]:
    return [one.code for one in validate_call(call, TOOLS, policy, **options).decisions]


@pytest.mark.parametrize("policy", ["strict", "balanced", "eager"])
@pytest.mark.parametrize("arguments", ['{"city": "Paris"}', '{ "days":3, "city":"a: b" }', '{"city": "x", "other": null}'])
def test_a_valid_call_comes_back_as_it_was(policy: Policy, arguments: str) -> None:
    call = _call(arguments)
    verdict = validate_call(call, TOOLS, policy)
    assert verdict.call is call
    assert verdict.decisions == ()


REPAIRED = [
    ("{'city': 'Paris', 'days': 3,}", {"city": "Paris", "days": 3}, {"single_quotes", "trailing_comma"}),
    ('{"city": "Paris", "days": "3"}', {"city": "Paris", "days": 3}, {"coerced_type"}),
    ('"{\\"city\\": \\"Paris\\"}"', {"city": "Paris"}, {"unwrapped_string"}),
    ('{"city": "Paris", "city": "Paris"}', {"city": "Paris"}, {"duplicate_key"}),
    ('{"arguments": {"City": "Paris"}}', {"city": "Paris"}, {"unwrapped_arguments", "fixed_key"}),
]


@pytest.mark.parametrize(("arguments", "value", "codes"), REPAIRED, ids=[row[0] for row in REPAIRED])
def test_a_repaired_call_keeps_both_forms(arguments: str, value: dict[str, Any], codes: set[str]) -> None:
    verdict = validate_call(_call(arguments), TOOLS)
    assert verdict.call is not None
    assert verdict.call.arguments == value
    assert verdict.call.raw == arguments
    assert set(verdict.call.fixes) == {one.code for one in verdict.decisions} == codes
    assert all(one.call == verdict.call for one in verdict.decisions)


@pytest.mark.parametrize("arguments", [row[0] for row in REPAIRED])
def test_strict_repairs_nothing(arguments: str) -> None:
    [code] = _codes(_call(arguments), "strict")
    assert code in ("rejected_arguments", "rejected_schema")


REJECTED = [
    (_call("{}", "get_time"), "rejected_unknown_tool"),
    (_call("{}", "get_wether"), "rejected_unknown_tool"),
    (_call("{}"), "rejected_schema"),
    (_call('{"city": "x", "days": "many"}'), "rejected_schema"),
    (_call('{"city": "x'), "rejected_arguments"),
    (_call('{"city": "x", "city": "y"}'), "rejected_arguments"),
    (_call("Paris"), "rejected_arguments"),
    (_call('["Paris"]'), "rejected_arguments"),
    (_call("42"), "rejected_arguments"),
    (_call('{"city": "x"}', sealed=False), "rejected_truncated"),
    (ParsedCall("get_weather", '{"city": "x"}', closed=False), "rejected_truncated"),
    (ParsedCall(" ", "{}"), "rejected_malformed"),
    (_call('{"city": "' + "x" * MAX_SIZE + '"}'), "rejected_limit"),
    (_call('{"city": "x", "any": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}"), "rejected_limit"),
    (_call('{"city": "x", "any": ' + "[" * 100_000), "rejected_limit"),
]


@pytest.mark.parametrize("policy", ["balanced", "strict"])
@pytest.mark.parametrize(("call", "code"), REJECTED, ids=[f"{at} {row[1]}" for at, row in enumerate(REJECTED)])
def test_a_rejected_call_has_one_decision(call: ParsedCall | ToolCall, code: str, policy: Policy) -> None:
    verdict = validate_call(call, TOOLS, policy)
    assert verdict.call is None
    [decision] = verdict.decisions
    assert decision.code == code
    assert decision.call is not None


def test_a_rejection_has_the_expected_values() -> None:
    [decision] = validate_call(_call('{"days": "many"}'), TOOLS).decisions
    assert "'city' is missing" in decision.message
    assert 'days: expected an integer, got a string ("many")' in decision.message


def test_the_library_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert validate_call(_call('{"city": 3.5, "secret": "hunter2"}'), TOOLS, "strict").call is None
    assert caplog.records == []


def test_eager_takes_the_last_of_two_values() -> None:
    verdict = validate_call(_call('{"city": "x", "city": "y"}'), TOOLS, "eager")
    assert verdict.call is not None
    assert verdict.call.arguments == {"city": "y"}


@pytest.mark.parametrize("name", ["functions.get_weather", "GetWeather", "get_weather<|channel|>commentary"])
def test_names_are_put_right(name: str) -> None:
    verdict = validate_call(_call('{"city": "x"}', name), TOOLS)
    assert verdict.call is not None
    assert (verdict.call.name, verdict.call.fixes) == ("get_weather", ("fixed_name",))
    assert _codes(_call('{"city": "x"}', name), "strict") == ["rejected_unknown_tool"]


@pytest.mark.parametrize(("name", "namespace"), [("read", "fs"), ("fs__read", None), ("fs.read", None)])
def test_namespaces_come_back(name: str, namespace: str | None) -> None:
    verdict = validate_call(_call("{}", name, namespace=namespace), TOOLS)
    assert verdict.call is not None
    assert (verdict.call.name, verdict.call.namespace, verdict.decisions) == ("read", "fs", ())


@pytest.mark.parametrize("arguments", ["", "  ", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    verdict = validate_call(_call(arguments, "now"), TOOLS, "strict")
    assert verdict.call is not None
    assert (verdict.call.arguments_json, verdict.decisions) == ("{}", ())
    assert _codes(_call("null", "now")) == ["dropped_null"]


def test_custom_tools_are_checked_by_name_and_carry_text() -> None:
    for arguments, text in (('{"input": "*** Begin"}', "*** Begin"), ("*** Begin", "*** Begin"), ('{"a": 1}', '{"a": 1}')):
        verdict = validate_call(_call(arguments, "patch"), TOOLS)
        assert verdict.call is not None
        assert (verdict.call.custom, verdict.call.arguments) == (True, {"input": text})
        assert verdict.decisions == ()


def test_server_tools_go_by_the_name_they_are_called() -> None:
    verdict = validate_call(_call('{"command": "ls"}', "bash"), TOOLS)
    assert verdict.call is not None
    assert (verdict.call.name, verdict.decisions) == ("bash", ())
    fixed = validate_call(_call('{"command": "ls"}', "functions.bash"), TOOLS).call
    assert fixed is not None
    assert fixed.name == "bash"


def test_an_invalid_schema_is_read_by_its_meaning_with_a_decision() -> None:
    verdict = validate_call(_call('{"n": 3}', "odd"), TOOLS)
    assert verdict.call is not None
    assert [one.code for one in verdict.decisions] == ["repaired_schema"]
    assert _codes(_call('{"n": "x"}', "odd")) == ["rejected_schema"]


def test_without_tools_a_call_is_unchecked() -> None:
    verdict = validate_call(_call("{'a': 1}", "whatever"), ())
    assert verdict.call is not None
    assert verdict.call.arguments == {"a": 1}
    assert [one.code for one in verdict.decisions] == ["single_quotes", "unchecked"]
    assert [one.code for one in validate_call(_call("[1]", "whatever"), ()).decisions] == ["rejected_arguments"]


def test_a_parsed_call_gets_its_position_source_and_text() -> None:
    raw = '<tool_call>{"city": "x"}</tool_call>'
    parsed = ParsedCall("GetWeather", '{"city": "x"}', raw, fixes=("closed_truncated",))
    verdict = validate_call(parsed, {tool.full_name: tool for tool in TOOLS}, source="hermes", position=2)
    call = verdict.call
    assert call is not None
    assert (call.id, call.source, call.raw, call.arguments_json) == ("get_weather_2", "hermes", raw, '{"city": "x"}')
    assert call.fixes == ("closed_truncated", "fixed_name")
    assert [one.call for one in verdict.decisions] == [call, call]
    assert _codes(parsed, "strict") == ["rejected_malformed"]
    kept = validate_call(ParsedCall("now", "", id="mine"), TOOLS, source="hermes").call
    assert kept is not None
    assert kept.id == "mine"


def test_what_was_meant_as_a_call_but_is_none() -> None:
    decision = reject_malformed("no name", "<tool_call>?</tool_call>", "hermes")
    assert decision.code == "rejected_malformed"
    assert decision.call is not None
    assert decision.call.raw == "<tool_call>?</tool_call>"


def test_validate_is_the_guard_alone() -> None:
    good, bad = _call('{"city": "x"}'), _call("{}", "nope")
    found = validate([good, bad], TOOLS)
    assert (found.calls, found.text, found.dialect) == ([good], "", None)
    assert [one.code for one in found.decisions] == ["rejected_unknown_tool"]


def test_validate_takes_the_forms_of_the_wires() -> None:
    tools = [{"name": "get_weather", "input_schema": SCHEMA}]
    chat = [{"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "x"}'}}]
    block = [{"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "x"}}]
    for calls in (chat, block, {"role": "assistant", "tool_calls": chat}):
        assert [call.arguments for call in validate(calls, tools).calls] == [{"city": "x"}]


def test_the_number_of_calls_is_limited() -> None:
    found = validate([_call('{"city": "x"}')] * (MAX_CALLS + 2), TOOLS)
    assert len(found.calls) == MAX_CALLS
    assert [one.code for one in found.decisions] == ["rejected_limit"] * 2


@given(
    st.text(alphabet="getwahrfuncios._-:<|> \n", max_size=20) | st.sampled_from(["get_weather", "odd", "patch"]),
    st.text(alphabet="{}[]\"':,city days3n\\\n", max_size=30) | st.text(),
    st.sampled_from(["strict", "balanced", "eager"]),
)
def test_nothing_raises_and_valid_calls_satisfy_the_schema(name: str, arguments: str, policy: Policy) -> None:
    verdict = validate_call(ToolCall("", name, arguments), TOOLS, policy)
    if verdict.call is None:
        [decision] = verdict.decisions
        assert decision.code.startswith("rejected_")
    else:
        assert isinstance(verdict.call.arguments, dict)
        again = validate_call(verdict.call, TOOLS, "balanced")
        assert again.call is not None
        assert again.call.arguments == verdict.call.arguments


def test_an_unpaired_surrogate_is_replaced() -> None:
    tools = [{"name": "f", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    call = ToolCall("1", "f", '{"a": "x\\ud83d y"}')
    found = validate([call], tools)
    assert found.calls[0].arguments == {"a": "x\ufffd y"}
    assert found.calls[0].fixes == ("bad_escape",)


UNSUPPORTED = Tool("read", None, {"type": "object", "properties": {"path": {"pattern": r"^(?>[a-z]+)\.txt$"}}})


def test_a_keyword_that_cannot_be_compiled_rejects_the_calls_of_its_tool_only() -> None:
    tools = (UNSUPPORTED, Tool("get_weather", None, SCHEMA))
    [decision] = validate_call(_call('{"path": "../../etc/passwd"}', "read"), tools).decisions
    assert decision.code == "rejected_unsupported_keyword"
    assert "properties.path.pattern" in decision.message
    assert validate_call(_call('{"city": "x"}'), tools).call is not None


def test_a_lenient_check_passes_with_a_decision() -> None:
    verdict = validate_call(_call('{"path": "x"}', "read"), (UNSUPPORTED,), schemas="lenient")
    assert verdict.call is not None
    assert [one.code for one in verdict.decisions] == ["unsupported_keyword"]


def test_a_translated_pattern_is_checked() -> None:
    tools = (Tool("read", None, {"type": "object", "properties": {"path": {"pattern": r"^[a-z]+\.txt\Z"}}}),)
    assert validate_call(_call('{"path": "notes.txt"}', "read"), tools).call is not None
    [decision] = validate_call(_call('{"path": "../../etc/passwd"}', "read"), tools).decisions
    assert decision.code == "rejected_schema"
