"""A tool's schema, brought to what a wire or a server understands. What it can't express is said in the description."""

from __future__ import annotations

from toolglot.schema.fitting.fit import Fitted, fit_schema
from toolglot.schema.fitting.restore import drop_filled_nulls
from toolglot.schema.fitting.targets import TARGETS, Target

__all__ = ["TARGETS", "Fitted", "Target", "drop_filled_nulls", "fit_schema"]
