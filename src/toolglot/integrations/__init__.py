"""toolglot inside other packages: each module adapts one of them, and imports it on first use."""
