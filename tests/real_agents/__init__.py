"""Real coding agents against the gateway: `make agents` (it is not a part of the everyday tests)."""
