"""From the client's request to the upstream's: route, tool mode, prompts, context budget, history. No I/O.

`fit_request` returns a `Plan`: the request to send, and what the response pipeline needs to know.
"""
