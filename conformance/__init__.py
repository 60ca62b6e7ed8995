"""Language-neutral test vectors for tool calls, and a runner that measures any implementation with them.

`vectors/` has the vectors, `schema.json` describes a row, `build.py` writes those that come from `fixtures/`. `run.py` runs an
adapter on them, and `judge.py` says what is right, with `facts/` for bodies of the chat APIs. Nothing but `build.py` and
`adapters/` imports an implementation.
"""
