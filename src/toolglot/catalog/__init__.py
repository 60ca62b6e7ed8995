"""Layer 2: the catalog. Facts about providers and models as rows of data, and how a model's name finds its rows."""
