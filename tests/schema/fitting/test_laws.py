"""The laws of fitting: what was valid stays valid, nothing refused is left in, and twice is as good as once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.schema.fitting.bundles import Bundle, tools
from tests.schema.fitting.refusals import refused
from toolglot.schema.check import checker
from toolglot.schema.fitting import TARGETS, Target, drop_filled_nulls, fit_schema
from toolglot.wires.gemini.schemas import read_schema

MODEST = settings(max_examples=50, suppress_health_check=list(HealthCheck))
EACH = pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
FREE = [row for row in TARGETS.values() if row.anything != "union"]
TIGHT = [row for row in TARGETS.values() if row.anything == "union"]


def readable(schema: dict[str, Any], target: Target) -> dict[str, Any]:
    """Gemini's schema format as JSON Schema, for the checker."""
    return read_schema(schema, "parameters") if target.capitals else schema


def filled(value: Any, schema: Any) -> Any:
    """The value with null for each property that it leaves out, as strict mode wants it."""
    for branch in schema.get("anyOf", ()):
        instance = filled(value, branch)
        if checker(branch).fits(instance):
            return instance
    if isinstance(value, list):
        return [filled(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    known = schema["properties"]
    return {**dict.fromkeys(known), **{name: filled(item, known.get(name, {})) for name, item in value.items()}}


def assert_still_valid(bundle: Bundle, target: Target) -> None:
    schema, values = bundle
    fitted = fit_schema(schema, target)
    original, after = checker(schema), checker(readable(fitted.schema, target))
    for value in values:
        if original.fits(value):
            instance = filled(value, fitted.schema) if target.filled else value
            assert after.fits(instance), (schema, fitted.schema, instance, after.problems(instance))


@pytest.mark.parametrize("target", FREE, ids=lambda row: row.name)
@MODEST
@given(bundle=tools())
def test_what_was_valid_stays_valid(target: Target, bundle: Bundle) -> None:
    assert_still_valid(bundle, target)


@pytest.mark.parametrize("target", TIGHT, ids=lambda row: row.name)
@MODEST
@given(bundle=tools(free=False))
def test_what_was_valid_stays_valid_with_all_properties_required(target: Target, bundle: Bundle) -> None:
    assert fit_schema(bundle[0], target).narrowed == ()
    assert_still_valid(bundle, target)


@pytest.mark.parametrize("target", TIGHT, ids=lambda row: row.name)
@MODEST
@given(bundle=tools())
def test_narrowed_values_are_reported(target: Target, bundle: Bundle) -> None:
    if not fit_schema(bundle[0], target).narrowed:
        assert_still_valid(bundle, target)


@EACH
@MODEST
@given(bundle=tools())
def test_no_rejected_keyword_is_left(target: Target, bundle: Bundle) -> None:
    fitted = fit_schema(bundle[0], target)
    assert refused(fitted.schema, target) == []


@EACH
@MODEST
@given(bundle=tools())
def test_fitting_twice_changes_nothing(target: Target, bundle: Bundle) -> None:
    once = fit_schema(bundle[0], target).schema
    assert fit_schema(once, target).schema == once


@MODEST
@given(bundle=tools(free=False))
def test_filled_nulls_are_removed_again(bundle: Bundle) -> None:
    """So that calls can be checked against the original."""
    schema, values = bundle
    original = checker(schema)
    fitted = fit_schema(schema, TARGETS["openai_strict"]).schema
    for value in values:
        instance = filled(value, fitted)
        if original.fits(value):
            assert original.fits(drop_filled_nulls(instance, schema)), (schema, instance)


_KEYWORDS = (
    "type properties items $ref $defs a anyOf oneOf allOf enum const not if then required additionalProperties prefixItems"
    " patternProperties minimum maxItems nullable pattern description default format $schema exclusiveMinimum uniqueItems"
    " dependentRequired $recursiveRef"
)
_WORDS = ["object", "string", "", "dict", "float", "any", "#", "#/$defs/a"]
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYWORDS.split()), inner, max_size=5),
    max_leaves=25,
)


@EACH
@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(schema=_JUNK)
def test_never_raises_and_always_returns_an_object(target: Target, schema: Any) -> None:
    fitted = fit_schema(schema, target)
    assert fitted.schema["type"] in ("object", "OBJECT") or "anyOf" in fitted.schema
    if not target.as_is:
        assert refused(fitted.schema, target) == []
        assert fit_schema(fitted.schema, target).schema == fitted.schema
