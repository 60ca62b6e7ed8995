"""A sentence for each reason code that is not a repair (those: schema/fixes.py), for where only codes are stored."""

from __future__ import annotations

SENTENCES = {
    "rescued_text": "The model wrote the call into its text, and toolglot parsed it from there.",
    "duplicate_call": "The text contained the same call twice; it counts once.",
    "split_arguments": "Two objects came as the arguments of one call; each is a call.",
    "retried_call": "A rejected call went back to the model with the reason, and this call came instead.",
    "unchecked": "There were no tools to validate the call against.",
    "repaired_schema": "The tool's schema is not valid; it was repaired where its meaning is clear.",
    "unsupported_keyword": "The tool's schema has a keyword that can't be compiled, so the call was not checked against it.",
    "invalid_output": "The answer does not fit the output type, so the agent asks for it once more, with the reason.",
    "missing_call": "A call was required, and the model made none.",
    "rejected_unknown_tool": "The request has no tool of this name.",
    "rejected_schema": "The arguments do not satisfy the tool's schema.",
    "rejected_arguments": "The arguments can't be parsed as an object.",
    "rejected_truncated": "The call was cut short, usually by max_tokens or the context window.",
    "rejected_malformed": "The text looks like a call and can't be parsed, or it needs a repair and the policy is strict.",
    "rejected_limit": "There were too many calls, or one was too long or too deep, or validating took too many steps.",
    "rejected_unsupported_keyword": "The tool's schema has a keyword that can't be compiled, so its calls can't be validated.",
    "rejected_choice": "The request's tool_choice, or parallel_tool_calls: false, does not allow the call.",
    "rejected_ungrounded": "No required value occurs in the conversation, which small models often do when they invent a call.",
    "rejected_repeat": "The same call was made before, and its result is there.",
    "repeated_call": "The model only repeated calls whose results are there, so it was asked for the answer in words.",
    "quoted": "The text shows a call as an example or a quotation: in a code fence, in mid-sentence, or before a long text.",
    "quoted_input": "The same call stands in a tool result that the model was given, so it may be a quotation.",
    "image_left_out": "The model sees no images, so a text that says so took the place of an image.",
    "in_reasoning": "The call is in the model's reasoning, and more reasoning follows.",
}
