from __future__ import annotations

from typing import Any

from toolglot.schema.weight import TOO_HEAVY, count_values, weigh


def _chain(length: int, width: int = 2) -> dict[str, Any]:
    links: dict[str, Any] = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * width} for at in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**links, f"d{length}": {"type": "string"}}}


def test_references_multiply() -> None:
    assert 2**10 < weigh(_chain(10)).steps < 2**14
    assert weigh(_chain(200)).steps == TOO_HEAVY
    assert weigh(_chain(10, width=1)).steps < 100


def test_unused_definitions_and_annotations_weigh_nothing() -> None:
    schema = {"type": "object", "$defs": {"a": {"enum": list(range(1000))}}, "examples": [list(range(1000))]}
    assert weigh(schema).steps < 10_000 // 1000 + 1010  # `examples` has one entry
    assert weigh({"properties": {"enum": {"enum": list(range(1000))}}}).steps > 1000


def test_recursion_is_known() -> None:
    assert weigh({"properties": {"a": {"$ref": "#"}}}).recursive
    assert not weigh(_chain(3)).recursive
    assert weigh({"properties": {"a": {"$ref": "#/properties/%61"}}}).recursive


def test_what_only_the_compiled_validator_can_apply() -> None:
    assert not weigh({"properties": {"a": {}}, "unevaluatedProperties": False}).stepwise
    assert not weigh({"$ref": "#name", "$defs": {"a": {"$anchor": "name"}}}).stepwise
    assert weigh({"$id": "https://example.com/x", "properties": {"$id": {"type": "string"}}}).stepwise


def test_values_are_counted() -> None:
    assert count_values(3) == 1
    assert count_values({"a": [1, 2, {"b": None}]}) == 6
