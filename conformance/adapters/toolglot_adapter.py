"""toolglot as a library."""

from __future__ import annotations

from loop import Body, pieces, serve

import toolglot


def extract(given: Body) -> Body:
    options = {"policy": given.get("policy", "balanced"), "starts_in_reasoning": given.get("starts_in_reasoning", False)}
    options |= {"dialect": given["dialect"], "messages": given["messages"]}
    if given["cut"]:
        stream = toolglot.StreamExtractor(given["tools"], **options)
        for piece in pieces(given["text"], given["cut"]):
            stream.feed(piece)
        stream.close()
        found = stream.result()
    else:
        found = toolglot.extract(given["text"], given["tools"], **options)
    calls = [{"name": call.full_name, "arguments": call.arguments} for call in found.calls]
    return {"calls": calls, "text": found.text, "reasoning": found.reasoning}


def convert(given: Body) -> Body:
    ways = {"source": given["source"], "target": given["target"]}
    if given["kind"] == "stream":
        chunks = pieces(given["body"].encode(), given["cut"])
        return {"body": b"".join(toolglot.convert_stream(chunks, **ways)).decode()}
    return {"body": toolglot.convert(given["body"], kind=given["kind"], **ways)}


def arguments(given: Body) -> Body:
    return {"arguments": toolglot.parse_arguments(given["text"], given["schema"])}


def about(_: Body) -> Body:
    return {"name": "toolglot", "version": toolglot.__version__}


serve({"about": about, "extract": extract, "convert": convert, "arguments": arguments})
