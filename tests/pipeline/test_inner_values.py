from __future__ import annotations

from typing import Any

from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.said import Said

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
DATE = {"type": "string", "description": "YYYY-MM-DD"}


def nested(required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


def held(schema: dict[str, Any], text: str) -> Any:
    return _plain(held_to(schema, Said(text)).schema)


def _plain(schema: dict[str, Any]) -> Any:
    if "prefixItems" in schema:
        return [_plain(one) for one in schema["prefixItems"]]
    if "properties" in schema:
        return {name: _plain(one) for name, one in schema["properties"].items()}
    return schema.get("enum", schema.get("items") and [_plain(schema["items"])])


def test_two_objects_of_one_shape_have_each_its_own() -> None:
    end = nested("city date", city=TEXT, date=DATE)
    found = held(nested("pickup dropoff", pickup=end, dropoff=end), "A car in Denver on 20 May 2025, back in Reno on the 28th")
    assert found == {
        "pickup": {"city": ["Denver"], "date": ["2025-05-20"]},
        "dropoff": {"city": ["Reno"], "date": ["2025-05-28"]},
    }


def test_each_has_as_many_as_it_asks_for() -> None:
    person = nested("name city", name=TEXT, city=TEXT)
    found = held(nested("sender recipient", sender=person, recipient=person), "from Anna Berg in Malmo to Tom Reed in Leeds")
    assert found["sender"] == {"name": ["Anna Berg"], "city": ["Malmo"]}
    assert found["recipient"] == {"name": ["Tom Reed"], "city": ["Leeds"]}


def test_what_is_anothers_is_not_taken() -> None:
    line = nested("description quantity unit_price", description=TEXT, quantity=NUMBER, unit_price=NUMBER)
    bill = nested("client items due_date", client=TEXT, items={"type": "array", "items": line}, due_date=DATE)
    found = held(bill, 'Bill Harrow & Sons for twelve units of "Talks" at 95 pounds each, due on 31 July 2025.')
    item = {"description": ["Talks"], "quantity": [12], "unit_price": [95]}
    assert found == {"client": ["Harrow & Sons"], "items": [item], "due_date": ["2025-07-31"]}
