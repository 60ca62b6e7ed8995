"""vLLM: GET /tokenizer_info, where the server enables it, is the checkpoint's tokenizer_config.json.

Only the dialect and the family are taken from it. Whether calls come back as calls depends on the server's parser.
"""

from __future__ import annotations

from typing import Any

from toolglot.client.detection.server_facts import ServerFacts, fields, template
from toolglot.dialects import add_template
from toolglot.errors import CallerError

TOKENIZER = "GET /tokenizer_info"


def read_tokenizer_info(body: Any, model: str) -> ServerFacts | None:
    """The dialect of the chat template; if it is none of ours, the checkpoint's own parser."""
    config = fields(body)
    if "tokenizer_class" not in config:
        return None
    found = template(config.get("chat_template"))
    own = config.get("response_template")
    if (found is not None and found.dialect is not None) or not isinstance(own, dict):
        families = found.families if found else ()
        return ServerFacts(TOKENIZER, dialect=found.dialect if found else None, families=families)
    try:
        return ServerFacts(TOKENIZER, dialect=add_template(own))
    except CallerError as error:
        return ServerFacts(TOKENIZER, notes=(f"the checkpoint's own parser is not used: {error}",))
