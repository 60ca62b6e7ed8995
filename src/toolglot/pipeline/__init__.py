"""Layer 3: combines wires, providers, models and dialects. Pure functions: no I/O, no clock, no randomness.

`request` fits a request to its model and server. `response` turns the answer into validated calls. The modules here convert
between wires and detect the formats of tools and replies.
"""
