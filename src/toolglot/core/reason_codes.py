"""What each reason code of a decision means, as a sentence. Those of repairs are in `schema/fixes.py`."""

from __future__ import annotations

REASONS = {
    # found calls
    "rescued_text": "The model wrote the call into its text; it was parsed from there.",
    "duplicate_call": "The text contains the same call twice; it counts once.",
    "split_arguments": "Two objects came as the arguments of one call; each is a call.",
    "retried_call": "A rejected call went back to the model with the reason, and this call came instead.",
    "unchecked": "There are no tools to validate the call against.",
    "repaired_schema": "The tool's schema is not valid; it was repaired where its meaning is clear.",
    "unsupported_keyword": "The tool's schema has a keyword that can't be compiled, so the call was not checked against it.",
    "image_left_out": "The model can't see images, so an image was left out.",
    "missing_call": "A call was required, and the model made none.",
    # rejected calls
    "rejected_unknown_tool": "No tool has this name.",
    "rejected_schema": "The arguments do not satisfy the schema.",
    "rejected_arguments": "The arguments can't be parsed as an object.",
    "rejected_truncated": "The call was cut short.",
    "rejected_malformed": "The text looks like a call and can't be parsed, or it needs a repair under strict.",
    "rejected_limit": "Too many calls, too long or too deep, or too many steps to validate them.",
    "rejected_unsupported_keyword": "The tool's schema has a keyword that can't be compiled, so its calls can't be validated.",
    "rejected_choice": "The tool choice of the request does not allow the call.",
    "rejected_ungrounded": "No required value of the call occurs in the conversation.",
    "rejected_repeat": "The same call was made since the last user message, and its result is there.",
    "repeated_call": "The model only repeated calls whose results are there; it was asked for the answer in words.",
    # text that is not a call
    "quoted": "The text of the call is quoted, so it is not a call.",
    "quoted_input": "The same call stands in a tool result that the model was given, so it may be a quotation.",
    "in_reasoning": "The call is in the model's reasoning, and more reasoning follows.",
}
