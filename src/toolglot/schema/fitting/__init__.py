"""Fits a tool's schema to the keywords that a wire or a server supports. Unsupported constraints go into the description."""

from __future__ import annotations

from toolglot.schema.fitting.fit import Fitted, fit_schema
from toolglot.schema.fitting.restore import drop_filled_nulls
from toolglot.schema.fitting.targets import TARGETS, Target

__all__ = ["TARGETS", "Fitted", "Target", "drop_filled_nulls", "fit_schema"]
