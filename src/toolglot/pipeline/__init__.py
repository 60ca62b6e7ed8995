"""Layer 3: where wires, providers, models and dialects meet. Pure: no I/O, no clock, no chance."""
