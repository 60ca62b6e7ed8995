"""Arguments that are cut off are not made up: under no policy does a call leave with less than the model was about to write."""

from __future__ import annotations

import pytest

from toolglot import Extraction, StreamExtractor, Tool, extract

TEXT = {"type": "string"}
TOOLS = [
    Tool("delete_all", schema={"type": "object", "properties": {}}),
    Tool("get_weather", schema={"type": "object", "properties": {"city": TEXT, "days": {"type": "integer"}}}),
    Tool("read_file", schema={"type": "object", "properties": {"path": TEXT}, "required": ["path"]}),
]


def parsed(text: str, dialect: str, policy: str, size: int = 1000) -> Extraction:
    extractor = StreamExtractor(TOOLS, dialect=dialect, policy=policy)  # type: ignore[arg-type]
    for at in range(0, len(text), size):
        extractor.feed(text[at : at + size])
    extractor.close()
    return extractor.result()


CUT_OFF = [
    ("hermes", '<tool_call>\n{"name": "delete_all", "arguments": \n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "delete_all", "arguments"\n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "delete_all", \n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "delete_all"\n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "delete_all", "arguments": }\n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "delete_all", "arguments": {\n</tool_call>'),
    ("hermes", '<tool_call>\n{"arguments": , "name": "delete_all"}\n</tool_call>'),
    ("hermes", '<tool_call>\n[{"name": "delete_all", "arguments": ]\n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Par\n</tool_call>'),
    ("hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"days": 3, "city": \n</tool_call>'),
    ("poolside_v1", '<tool_call>\n{"name": "delete_all", "arguments": {"x": }}\n</tool_call>'),
    ("tagged", '~~~tool_call\n{"name": "delete_all", "arguments":\n~~~'),
    ("cohere_command3", '<|START_ACTION|>[\n  {"tool_name": "delete_all", "parameters": \n]<|END_ACTION|>'),
    ("apertus", '<|tools_prefix|>[{"delete_all": }]<|tools_suffix|>'),
    ("inkling", '<|message_model|>delete_all<|content_invoke_tool_json|>{"name": "delete_all", "args": <|end_message|>'),
    ("fenced_json", '```json\n{"name": "delete_all", "arguments": \n```'),
    ("fenced_json", '```json\n{"name": "delete_all", "arguments":\n}\n```'),
    ("bare_json", '{"name": "delete_all", "arguments": }'),
    ("bare_json", '[{"name": "delete_all", "arguments": ]'),
    ("qwen3_coder", "<tool_call>\n<function=delete_all>\n</tool_call>"),
    ("qwen3_coder", "<tool_call>\n<function=get_weather>\n<parameter=city\n</function>\n</tool_call>"),
    ("anthropic_xml", '<function_calls>\n<invoke name="delete_all">\n</function_calls>'),
    ("glm45", "<tool_call>get_weather\n<arg_key>city</tool_call>"),
    ("gemma4", "<|tool_call>call:delete_all{<tool_call|>"),
    ("gemma4", "<|tool_call>call:get_weather{city:}<tool_call|>"),
    ("gemma4", "<|tool_call>call:get_weather{days:3,city:<tool_call|>"),
    ("lfm2", "<|tool_call_start|>[get_weather(days=3, city=<|tool_call_end|>"),
]


@pytest.mark.parametrize("policy", ["strict", "balanced", "eager"])
@pytest.mark.parametrize(("dialect", "text"), CUT_OFF)
def test_arguments_that_are_cut_off_are_rejected(dialect: str, text: str, policy: str) -> None:
    for named in (dialect, "auto", "poolside_v1", "dots"):
        for size in (1000, 3):
            found = parsed(text, named, policy, size)
            assert found.calls == []
    assert [one.code for one in parsed(text, dialect, policy).decisions if one.code.startswith("rejected_")]


NO_ARGUMENTS = [
    '{"name": "delete_all"}',
    '{"name": "delete_all", "arguments": ""}',
    '{"name": "delete_all", "arguments": null}',
    '{"name": "delete_all", "arguments": {}}',
]


@pytest.mark.parametrize("call", NO_ARGUMENTS)
def test_a_complete_call_may_have_no_arguments(call: str) -> None:
    for policy in ("strict", "balanced", "eager"):
        found = parsed(f"<tool_call>\n{call}\n</tool_call>", "hermes", policy)
        assert [(one.name, one.arguments) for one in found.calls] == [("delete_all", {})]


@pytest.mark.parametrize("call", NO_ARGUMENTS)
def test_the_schema_decides_whether_there_must_be_arguments(call: str) -> None:
    found = parsed(f"<tool_call>\n{call.replace('delete_all', 'read_file')}\n</tool_call>", "hermes", "balanced")
    assert [one.code for one in found.decisions] == ["rejected_schema"]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "qwen3_coder",
            "<function=read_file>\n<parameter=path>\na\n</parameter>\n<parameter=path>\nb\n</parameter>\n</function>",
        ),
        (
            "glm45",
            "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>path</arg_key>\n<arg_value>b</arg_value>\n</tool_call>",
        ),
        ("cline_xml", "<read_file>\n<path>a</path>\n<path>b</path>\n</read_file>"),
        ("gemma4", '<|tool_call>call:read_file{path:<|"|>a<|"|>,path:<|"|>b<|"|>}<tool_call|>'),
        ("hermes", '<tool_call>\n{"name": "read_file", "arguments": {"path": "a", "path": "b"}}\n</tool_call>'),
        (
            "minimax_m3",
            ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="read_file">]<]minimax[>[<path>a]<]minimax[>[</path>'
            "]<]minimax[>[<path>b]<]minimax[>[</path>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
        ),
    ],
)
def test_an_argument_with_two_values_is_rejected(dialect: str, text: str) -> None:
    found = parsed(text, dialect, "balanced")
    assert found.calls == []
    assert found.decisions
    same = parsed(
        text.replace("b<", "a<").replace("b]", "a]").replace("\nb\n", "\na\n").replace('"b"', '"a"'), dialect, "balanced"
    )
    assert [one.arguments for one in same.calls] == [{"path": "a"}]


@pytest.mark.parametrize("name", ["mcp__evil__read_file", "evil.read_file", "tools.read_file", "mcp.read_file"])
def test_a_prefix_that_no_dialect_documents_is_another_tool(name: str) -> None:
    for policy in ("strict", "balanced", "eager"):
        found = parsed(f'<tool_call>\n{{"name": "{name}", "arguments": {{"path": "a"}}}}\n</tool_call>', "hermes", policy)
        assert [one.code for one in found.decisions] == ["rejected_unknown_tool"]
        assert parsed(f'{name}(path="a")', "call_expression", policy).calls == []


def test_a_key_with_two_values_inside_an_argument_is_rejected() -> None:
    mark = "]<]minimax[>["
    tags = "".join(f"{mark}<tag>{value}{mark}</tag>" for value in "ab")
    text = f'{mark}<tool_call>{mark}<invoke name="log">{mark}<entry>{tags}{mark}</entry>{mark}</invoke>{mark}</tool_call>'
    tool = Tool("log", schema={"type": "object", "properties": {"entry": {"type": "object"}}})
    found = extract(text, [tool], dialect="minimax_m3")
    assert (found.calls, [one.code for one in found.decisions]) == ([], ["rejected_malformed"])
    assert extract(text.replace(">b]", ">a]"), [tool], dialect="minimax_m3").calls[0].arguments == {"entry": {"tag": "a"}}


TORN = "python3 -c \"print(f(x, '\\,'))\""  # quotes inside the value look like its end


@pytest.mark.parametrize(
    "text",
    [
        f"<|tool_call_start|>[read_file(path='{TORN}')]<|tool_call_end|>",
        f"<|python_start|>[read_file(path='{TORN}')]<|python_end|>",
        f"<tool_code>\nread_file(path='{TORN}')\n</tool_code>",
        '{"name": "read_file", "arguments": {"path": "grep "}" x"}}',
    ],
)
def test_a_value_that_only_seems_to_end_is_rejected(text: str) -> None:
    for policy in ("balanced", "eager"):
        found = parsed(text, "auto", policy)
        assert found.calls == []
        assert [one.code for one in found.decisions][:1] in (["rejected_truncated"], ["rejected_malformed"])


def test_a_quote_that_was_not_escaped_is_repaired_where_the_value_ends_clearly() -> None:
    text = "<|tool_call_start|>[read_file(path='it's'), read_file(path='b')]<|tool_call_end|>"
    assert [one.arguments for one in parsed(text, "lfm2", "balanced").calls] == [{"path": "it's"}, {"path": "b"}]


SEEMING_ENDS = [
    *('echo "}}" > f', 'a"}}b', 'x = "]" + y', 'print("}")', 'echo "}}', '"}', 'a"}} and more text', 'echo "," > f'),
    *('x"}]', "sed 's/\"}/x/' f"),
]
BASH = [Tool("bash", schema={"type": "object", "properties": {"command": TEXT, "cwd": TEXT}, "required": ["command"]})]
WRITTEN = {
    "hermes": '<tool_call>\n{"name": "bash", "arguments": {"command": "VALUE"}}\n</tool_call>',
    "hermes, no closer": '<tool_call>{"name": "bash", "arguments": {"command": "VALUE"}}',
    "tagged": '~~~tool_call\n{"name": "bash", "arguments": {"command": "VALUE"}}\n~~~',
    "mistral": '[TOOL_CALLS][{"name": "bash", "arguments": {"command": "VALUE"}}]',
    "mistral_v11": '[TOOL_CALLS]bash[ARGS]{"command": "VALUE"}',
    "kimi_k2": '<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command": "VALUE"}'
    "<|tool_call_end|><|tool_calls_section_end|>",
    "harmony": '<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command": "VALUE"}<|call|>',
    "function tag": '<function=bash>{"command": "VALUE"}</function>',
    "react": 'Action: bash\nAction Input: {"command": "VALUE"}\n',
    "fenced_json": '```json\n{"name": "bash", "arguments": {"command": "VALUE"}}\n```',
    "llama3_json": '<|python_tag|>{"name": "bash", "parameters": {"command": "VALUE"}}',
    "lfm2": '<|tool_call_start|>[bash(command="VALUE")]<|tool_call_end|>',
    "tool_code": '```tool_code\nbash(command="VALUE")\n```',
    "tool_code tag": '<tool_code>print(bash(command="VALUE"))</tool_code>',
    "call_expression": 'bash(command="VALUE")',
    "bare_json": '{"name": "bash", "arguments": {"command": "VALUE"}}',
    "name as key": '[{"bash": {"command": "VALUE"}}]',
    "tool_calls": '{"tool_calls": [{"type": "function", "function": {"name": "bash", "arguments": {"command": "VALUE"}}}]}',
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_value_with_quotes_before_brackets_comes_back_whole_or_not_at_all(form: str) -> None:
    for value in SEEMING_ENDS:
        text = WRITTEN[form].replace("VALUE", value)
        for policy in ("balanced", "eager"):
            found = extract(text, BASH, policy=policy)
            assert [one.arguments for one in found.calls] in ([], [{"command": value}]), text
            extractor = StreamExtractor(BASH, policy=policy)
            for char in text:
                extractor.feed(char)
            extractor.close()
            assert extractor.result() == found


@pytest.mark.parametrize("behind", ['\nHere is the result: {"a": "b"}', "\nThe file (see 'x') is:\n1) one", " 'done'"])
def test_text_behind_a_call_without_a_closer_does_not_tear_it(behind: str) -> None:
    text = WRITTEN["mistral"].replace("VALUE", "ls") + behind
    assert [one.arguments for one in extract(text, BASH).calls] == [{"command": "ls"}]
