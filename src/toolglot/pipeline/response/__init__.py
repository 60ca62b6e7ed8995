"""From the upstream's response to the client: scan text for calls, validate each call, restore names and ids. No I/O.

`response_pipeline` chains the stages. Each stage takes a batch of events and returns a batch.
"""
