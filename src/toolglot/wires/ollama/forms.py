"""What is Ollama's among other wires' formats. Its tools and calls are those of OpenAI Chat."""

from __future__ import annotations

from toolglot.core.forms import Body, Forms


def _is_message(body: Body, named: bool) -> bool:
    """A message, or a line of a stream without its end."""
    if isinstance(body.get("message"), dict):
        return "finish_reason" not in body and "index" not in body
    return named and "tool_calls" in body


def _around_message(body: Body) -> Body:
    return {"done": True, **(body if isinstance(body.get("message"), dict) else {"message": body})}


FORMS = Forms(is_response=lambda body: "done" in body, is_message=_is_message, around_message=_around_message)
