"""Layer 0: the internal format (requests, replies, events) and functions on it that know no wire."""
