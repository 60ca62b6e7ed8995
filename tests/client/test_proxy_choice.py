"""Which proxy, by the environment."""

from __future__ import annotations

import pytest

from toolglot.client.http.proxy import from_environment, parse_proxy
from toolglot.client.http.url import parse_url
from toolglot.errors import CallerError

BAD = ("socks5://p:1", "http://", "http://p:hush", "http://[p")


def chosen(url: str, **environ: str) -> str | None:
    proxy = from_environment(environ).for_target(parse_url(url))
    return proxy.host if proxy else None


def test_the_scheme_decides_and_lower_case_wins() -> None:
    assert chosen("http://a.b/", HTTP_PROXY="http://p:1", HTTPS_PROXY="http://q:1") == "p"
    assert chosen("https://a.b/", HTTP_PROXY="http://p:1", HTTPS_PROXY="http://q:1") == "q"
    assert chosen("https://a.b/", ALL_PROXY="p:1") == "p"
    assert chosen("https://a.b/", ALL_PROXY="p:1", https_proxy="q:1") == "q"
    assert chosen("http://a.b/", HTTP_PROXY="p:1", http_proxy="q:1") == "q"
    assert chosen("http://a.b/", HTTP_PROXY="p:1", http_proxy="") is None
    assert chosen("http://a.b/", HTTP_PROXY="p:1", REQUEST_METHOD="GET") is None
    assert chosen("http://a.b/") is None


@pytest.mark.parametrize("host", ["localhost", "x.localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
def test_loopback_goes_straight(host: str) -> None:
    assert chosen(f"http://{host}:8080/", ALL_PROXY="p:1") is None


@pytest.mark.parametrize(
    ("entry", "url", "straight"),
    [
        ("*", "http://a.b/", True),
        ("b.c", "http://a.b.c/", True),
        ("b.c", "http://b.c/", True),
        ("B.C", "http://b.c/", True),
        (".b.c", "http://a.b.c/", True),
        (".b.c", "http://b.c/", True),
        ("*.b.c", "http://a.b.c/", True),
        ("b.c", "http://xb.c/", False),
        ("b.c", "http://b.c.d/", False),
        ("b.c:81", "http://b.c:81/", True),
        ("b.c:81", "http://b.c/", False),
        ("x, b.c", "http://b.c/", True),
        ("x b.c", "http://b.c/", True),
        ("10.0.0.0/8", "http://10.1.2.3/", True),
        ("10.0.0.0/8", "http://11.1.2.3/", False),
        ("10.1.2.3", "http://10.1.2.3/", True),
        ("10.1.2.3:80", "http://10.1.2.3/", True),
        ("1.2.3", "http://10.1.2.3/", False),
        ("fd00::/8", "http://[fd00::1]/", True),
        ("fd00::1", "http://[fd00::1]/", True),
        ("[fd00::1]:81", "http://[fd00::1]/", False),
        ("", "http://b.c/", False),
        (".", "http://b.c/", False),
    ],
)
def test_hosts_without_a_proxy(entry: str, url: str, straight: bool) -> None:
    assert (chosen(url, ALL_PROXY="p:1", NO_PROXY=entry) is None) is straight


def test_a_proxys_address() -> None:
    proxy = parse_proxy("http://us%40er:h%3Aush@proxy.example")
    assert (proxy.secure, proxy.host, proxy.port) == (False, "proxy.example", 80)
    assert proxy.auth == "Basic dXNAZXI6aDp1c2g="
    assert "dXNA" not in repr(proxy)
    assert parse_proxy("https://p").port == 443
    for bad in BAD:
        with pytest.raises(CallerError) as caught:
            parse_proxy(bad, "HTTPS_PROXY")
        assert "HTTPS_PROXY" in str(caught.value)
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize("bad", BAD)
def test_an_unusable_proxy_fails_only_requests_through_it(bad: str) -> None:
    with pytest.raises(CallerError, match=r"^ALL_PROXY: .* NO_PROXY$") as caught:
        chosen("http://a.b/", ALL_PROXY=bad)
    assert "hush" not in str(caught.value)
    assert chosen("http://127.0.0.1:11434/", ALL_PROXY=bad) is None
    assert chosen("http://a.b/", ALL_PROXY=bad, NO_PROXY="a.b") is None
    assert chosen("http://a.b/", ALL_PROXY=bad, HTTP_PROXY="p:1") == "p"


@pytest.mark.parametrize(
    ("url", "host", "port", "authority", "path"),
    [
        ("https://a.b", "a.b", 443, "a.b", "/"),
        ("http://A.b:80/x", "a.b", 80, "a.b", "/x"),
        ("https://a.b:80/x?y=%20z#part", "a.b", 80, "a.b:80", "/x?y=%20z"),
        ("http://[::1]:8080/", "::1", 8080, "[::1]:8080", "/"),
        ("http://b\u00fccher.example/\u00fc", "xn--bcher-kva.example", 80, "xn--bcher-kva.example", "/%C3%BC"),
    ],
)
def test_a_url_taken_apart(url: str, host: str, port: int, authority: str, path: str) -> None:
    target = parse_url(url)
    assert (target.host, target.port, target.authority, target.path) == (host, port, authority, path)
    assert target.secure is url.startswith("https")
    assert repr(target) == f"Target({authority!r})"
