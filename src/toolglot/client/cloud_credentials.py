"""Requests to a cloud without an API key: AWS signs each request, Google has access tokens. Their libraries are extras."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from toolglot.catalog.providers import Provider
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.errors import KeyMissingError

_LIBRARIES = {"aws": ("botocore",), "google": ("google.auth", "requests")}  # of the extras of the same names
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_SERVICES = {"bedrock-runtime": "bedrock", "bedrock-mantle": "bedrock-mantle"}  # host -> its name in signatures
_AWS_HOST = re.compile(r"(?:^|\.)(bedrock-runtime|bedrock-mantle)(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d+)\.")

_Signer = Callable[[str, str, Mapping[str, str], bytes], Mapping[str, str]]


async def send(
    transport: Transport, row: Provider, method: str, url: str, headers: Mapping[str, str], *, body: bytes = b"", limits: Limits
) -> Answer:
    """Sends a request to a provider, with the credentials of its cloud if it has no API key."""
    if row.credentials is not None and "Authorization" not in headers:
        sign = _SIGNERS[row.credentials]
        headers = await asyncio.to_thread(sign, method, url, headers, body)  # new credentials may be fetched
    return await transport.send(method, url, headers, body, limits=limits)


def check_library(row: Provider) -> str:
    """What to install before the provider can be used without a key; "" if it can."""
    if row.credentials is None:
        return ""
    return "" if all(map(_is_there, _LIBRARIES[row.credentials])) else f"pip install 'toolglot[{row.credentials}]'"


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # of the package around it
        return False


def _with_signature(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
    """AWS Signature Version 4. Without botocore's own client: only its credentials and its signer."""
    from botocore.auth import SigV4Auth  # noqa: PLC0415  (optional, and slow to import)
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    session = _aws_session()
    try:
        credentials = session.get_credentials()
        frozen = credentials.get_frozen_credentials() if credentials is not None else None
    except BotoCoreError as error:
        raise KeyMissingError(f"AWS gives no credentials: {error}", "api_key") from None
    if frozen is None:
        raise KeyMissingError("no AWS credentials were found: set them up as for the AWS command line", "api_key")
    found = _AWS_HOST.search(urlsplit(url).hostname or "")
    service, region = (_SERVICES[found[1]], found[2]) if found else ("bedrock", os.environ.get("AWS_REGION"))
    region = region or session.get_config_variable("region")
    if not region:
        raise KeyMissingError("the AWS region is not known: set AWS_REGION", "api_key")
    content_type = {name: value for name, value in headers.items() if name.lower() == "content-type"}
    request = AWSRequest(method, url, content_type, body)
    SigV4Auth(frozen, service, region).add_auth(request)
    return {**headers, **dict(request.headers.items())}


@cache
def _aws_session() -> Any:
    from botocore.session import Session  # noqa: PLC0415

    return Session()


def _with_token(method: str, url: str, headers: Mapping[str, str], _: bytes) -> Mapping[str, str]:
    """Application Default Credentials: the token is fetched when it is missing or old."""
    from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415  (optional)
    from google.auth.transport.requests import Request  # noqa: PLC0415

    added: dict[str, str] = {}
    try:
        _google_credentials().before_request(Request(), method, url, added)
    except GoogleAuthError as error:
        raise KeyMissingError(f"Google gives no credentials: {error}", "api_key") from None
    return {**headers, **{"Authorization" if name == "authorization" else name: value for name, value in added.items()}}


@cache
def _google_credentials() -> Any:
    import google.auth  # noqa: PLC0415

    return google.auth.default(scopes=[_SCOPE])[0]


_SIGNERS: dict[str, _Signer] = {"aws": _with_signature, "google": _with_token}
