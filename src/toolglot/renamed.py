"""Old names and their new ones. Using an old name is an error that names the new one. To be removed in the next release."""

from __future__ import annotations

PYTHON_NAMES = {"Call": "PreparedRequest"}
CONFIG_KEYS = {"mend": "retries"}
REASON_CODES = {
    "abstained_quoted": "quoted",
    "abstained_reasoning": "in_reasoning",
    "evident_schema": "repaired_schema",
    "mended_call": "retried_call",
    "merged_repeat": "duplicate_call",
}
