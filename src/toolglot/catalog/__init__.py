"""Layer 2: facts about providers and models, as rows of data."""
