"""Pictures, sounds and files: data URLs and base64."""

from __future__ import annotations

from typing import Literal

from toolglot.core.messages import Extra, Media


def media_from_url(kind: Literal["image", "audio", "file"], url: str, extra: Extra | None = None) -> Media:
    """Media from a URL; a base64 data URL gives the data."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return Media(kind, head[5:-7].partition(";")[0] or None, data, extra=extra or {})
    return Media(kind, url=url, extra=extra or {})


def data_url(media: Media) -> str:
    if media.data is None:
        return media.url or ""
    return f"data:{media.mime or 'application/octet-stream'};base64,{media.data}"


def media_kind(mime: str | None) -> Literal["image", "audio", "file"]:
    head = (mime or "").partition("/")[0]
    return "image" if head == "image" else "audio" if head == "audio" else "file"
