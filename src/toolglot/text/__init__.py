"""Layer 1: bytes and characters."""
