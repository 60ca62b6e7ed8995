"""Gemini's signature on a call, in the form of Google's Chat endpoint, which clients return."""

from __future__ import annotations

from toolglot.core.fold import merge_extra
from toolglot.core.messages import Extra
from toolglot.wires.openai_chat.shapes import WIRE


def for_client(extra: Extra) -> Extra:
    """For a client: the signature is written as `extra_content`."""
    signature = extra.get("gemini", {}).get("thoughtSignature")
    if not isinstance(signature, str):
        return extra
    rest = {wire: obj for wire, obj in extra.items() if wire != "gemini"}
    if "extra_content" in rest.get(WIRE, {}):
        return rest
    return merge_extra(rest, {WIRE: {"extra_content": {"google": {"thought_signature": signature}}}})


def from_client(extra: Extra) -> Extra:
    """From a client: `extra_content` contains the signature for Gemini, on whichever wire it is reached."""
    content = extra.get(WIRE, {}).get("extra_content")
    google = content.get("google") if isinstance(content, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    return {**extra, "gemini": {"thoughtSignature": signature}} if isinstance(signature, str) else extra


def kept(extra: Extra) -> Extra:
    """For a server: what came as `extra_content` is written as that, and not twice."""
    if "gemini" in extra and "extra_content" in extra.get(WIRE, {}):
        return {wire: obj for wire, obj in extra.items() if wire != "gemini"}
    return extra
