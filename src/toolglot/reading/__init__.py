"""Layer 1: what all readers of foreign input share."""
