"""The packages with the docstrings and READMEs that are read: pinned, pure Python, each with its licence."""

from __future__ import annotations

_LICENSED = """
altair 6.3.0 BSD-3-Clause
anthropic 2.8.0 Apache-2.0
arrow 1.4.0 Apache-2.0
attrs 26.1.0 MIT
beautifulsoup4 4.15.0 MIT
boltons 26.2.0 BSD-3-Clause
boto3 1.44.0 Apache-2.0
cattrs 26.2.1 MIT
celery 5.7.0 BSD-3-Clause
click 8.5.1 BSD-3-Clause
dask 2026.8.0 BSD-3-Clause
fastapi 0.162.4 MIT
fastmcp 4.1.4 Apache-2.0
flask 3.1.3 BSD-3-Clause
funcy 2.1 BSD-3-Clause
geopy 2.5.0 MIT
httpx 0.28.1 BSD-3-Clause
humanize 4.16.0 MIT
inflect 7.6.0 MIT
instructor 1.17.0 MIT
jinja2 3.1.6 BSD-3-Clause
langchain-core 1.7.7 MIT
marshmallow 4.4.0 MIT
mcp 2.3.0 MIT
more-itertools 11.2.1 MIT
networkx 3.6.1 BSD-3-Clause
nibabel 5.4.2 MIT
nltk 3.10.4 Apache-2.0
ollama 0.6.3 MIT
openai 3.49.0 Apache-2.0
openai-agents 0.24.0 MIT
pint 0.25.3 BSD-3-Clause
polars 2.1.0 MIT
pydantic 2.14.3 MIT
pydantic-ai-slim 2.66.0 MIT
pyparsing 3.3.3 MIT
python-dateutil 4.0.0 BSD-3-Clause
qwen-agent 0.0.34 Apache-2.0
redis 8.1.0 MIT
requests 2.34.2 Apache-2.0
rich 15.0.0 MIT
seaborn 0.13.2 BSD-3-Clause
simpy 4.1.2 MIT
smolagents 1.26.0 Apache-2.0
sortedcontainers 2.4.0 Apache-2.0
sqlglot 30.30.0 MIT
sympy 1.14.0 BSD-3-Clause
tenacity 9.2.1 Apache-2.0
textblob 0.20.1 MIT
toolz 1.2.0 BSD-3-Clause
transformers 5.22.2 Apache-2.0
typer 0.29.0 MIT
werkzeug 3.1.9 BSD-3-Clause
xarray 2026.9.0 Apache-2.0
"""
ROWS = [tuple(line.split()) for line in _LICENSED.strip().splitlines()]
PACKAGES = [(name, version) for name, version, _ in ROWS]
