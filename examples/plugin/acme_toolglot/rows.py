"""Acme's server as a provider, and what is known about its models. The keys are those of toolglot's own rows."""

PROVIDER = {
    "wire": "acme-chat",
    "base_url": "https://api.acme.example",
    "auth": "bearer",
    "key": "ACME_API_KEY",
    "source": "https://docs.acme.example",
    "quirks": {"max_tokens_key": "max_tokens"},
}
MODELS = [
    {
        "name": "acme-tiny",
        "dialect": "acme",
        "supports_tools": False,
        "context_length": 8192,
        "source": "https://docs.acme.example",
    },
]
