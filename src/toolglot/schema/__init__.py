"""Layer 1: JSON Schema. Parse values by a schema, validate them, repair them, and fit schemas to a target."""
