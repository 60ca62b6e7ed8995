"""Gemini's signature on a call, in the form that Google's own Chat endpoint has for it, which clients give back."""

from __future__ import annotations

from toolglot.core.fold import join_extra
from toolglot.core.messages import Extra
from toolglot.wires.openai_chat.shapes import WIRE


def told(extra: Extra) -> Extra:
    """For a client: the signature goes along as `extra_content`."""
    signature = extra.get("gemini", {}).get("thoughtSignature")
    if not isinstance(signature, str):
        return extra
    rest = {wire: held for wire, held in extra.items() if wire != "gemini"}
    if "extra_content" in rest.get(WIRE, {}):
        return rest
    return join_extra(rest, {WIRE: {"extra_content": {"google": {"thought_signature": signature}}}})


def heard(extra: Extra) -> Extra:
    """From a client: `extra_content` holds the signature for Gemini, whichever wire is spoken to it."""
    content = extra.get(WIRE, {}).get("extra_content")
    google = content.get("google") if isinstance(content, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    return {**extra, "gemini": {"thoughtSignature": signature}} if isinstance(signature, str) else extra


def kept(extra: Extra) -> Extra:
    """For a server: what came as `extra_content` goes as that, and is not told twice."""
    if "gemini" in extra and "extra_content" in extra.get(WIRE, {}):
        return {wire: held for wire, held in extra.items() if wire != "gemini"}
    return extra
