"""Bytes and text: SSE, NDJSON and JSON framing, marker search, Python literals, and what all wires share to build events.

No I/O happens here: callers pass in bytes.
"""
