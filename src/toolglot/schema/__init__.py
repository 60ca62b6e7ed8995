"""Layer 1: JSON Schema: reading values by it, checking them against it, bringing them to it."""
