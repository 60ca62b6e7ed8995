"""Whether requests for a model would reach it: is its upstream there, does it have the model, how large is the window.

Nothing is asked of the model itself. `GET /toolglot/check/{model}` and the commands `launch`, `check` and `doctor` use it.
"""

from __future__ import annotations

from difflib import get_close_matches

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.detect import ANSWERS, detect
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.embedded_runtime import import_runtime
from toolglot.client.transport import Transport
from toolglot.errors import ToolglotError
from toolglot.gateway.checked_model import ModelCheck
from toolglot.gateway.endpoint_call import EndpointCall
from toolglot.gateway.model_list import ModelListing, fetch_listing
from toolglot.gateway.page.upstreams import shown_address
from toolglot.gateway.routing import Candidate
from toolglot.gateway.upstream import Upstream

_NOT_THERE = frozenset({"connect_failed", "dns_failed", "timeout_connect"})
_NO_ACCESS = frozenset({"status 401", "status 403"})


async def check_endpoint(call: EndpointCall) -> None:
    candidate = call.live.routing.candidates(call.path_params["model"])[0]
    await call.exchange.json(msgspec.to_builtins(await check_model(candidate, call.live.session.transport)))


async def check_model(candidate: Candidate, transport: Transport) -> ModelCheck:
    upstream, model, profile = candidate.upstream, candidate.target.route.model, candidate.target.route.profile
    problem, notes = "", tuple[str, ...]()
    if upstream.embedded:
        problem = _embedded_problem()
    else:
        listing = await fetch_listing(upstream, transport)
        problem = upstream_problem(upstream, listing)
        if not problem:
            profile = await detect(model, upstream.row, transport, headers=upstream.headers())
            problem, notes = _missing(upstream, model, listing)
    return ModelCheck(
        upstream.name,
        upstream.row.name,
        model,
        shown_address(upstream),
        problem,
        profile.context_length,
        upstream.row.default_context,
        profile.supports_tools,
        notes,
    )


async def check_upstream(upstream: Upstream, transport: Transport) -> str:
    """Why it can't be used; empty if nothing is known to be wrong."""
    if upstream.embedded:
        return _embedded_problem()
    return upstream_problem(upstream, await fetch_listing(upstream, transport))


def _embedded_problem() -> str:
    try:
        import_runtime()
    except ToolglotError as error:
        return str(error)
    return ""


def upstream_problem(upstream: Upstream, listing: ModelListing) -> str:
    """Why the upstream can't be used. A server without a model list is not a problem."""
    address, problem = shown_address(upstream), listing.problem
    if problem in _NOT_THERE:
        return f"nothing answers at {address} ({problem}): start {upstream.row.name} there, or set base_url"
    if problem in _NO_ACCESS:
        if upstream.key is None:
            return f"{address} needs an API key, and there is none: set {upstream.row.key or 'api_key'}"
        return f"{address} rejects the API key from {upstream.key.source} ({problem}): it is invalid, or not for this server"
    if problem.startswith("timeout"):
        return f"{address} does not answer in time ({problem})"
    return ""


def _missing(upstream: Upstream, model: str, listing: ModelListing) -> tuple[str, tuple[str, ...]]:
    """The problem, or a note where the list may be incomplete: vendors have names that they do not list."""
    facts = ANSWERS.get(upstream.row.base_url, model)
    if isinstance(facts, ServerFacts) and facts.missing:
        return "; ".join(facts.notes), ()
    if listing.names and model not in listing.names and server_kind(upstream.row.name) == "hosted":
        close = get_close_matches(model, listing.names, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return "", (f"{upstream.name} does not list {model}{hint}",)
    return "", ()
