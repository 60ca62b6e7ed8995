"""Mixed requests to two workers and a Redis, while upstreams, clients, workers and Redis fail. Nothing may leak or be lost.

python bench/gateway/soak.py [--minutes 2] [--rate 20] [--write]     # make soak MINUTES=60

Every response holds numbered words and a tag of its own request: a chunk that is lost, doubled, out of order or another
request's is seen. Every request is accounted for: what the client got, the gateway's record of it with the cause, the gateway's
count by model and status, and the number of requests to the upstream must agree. What nobody answered must have been cut by the
kill of a worker. At the end nothing may run any more, neither in the gateway nor between it and the upstream.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import figures
import replies
import servers
import uvloop
from load import body_of
from replies import ANTHROPIC, CHAT
from servers import OUT, Server

PAUSE_US = 2000
HUNG = 60.0  # seconds after which a request counts as hung: far beyond the limits below
WORKERS = 2
KEY, ADMIN = "soak-key-0123456789", "soak-admin-0123456789"
MAX_BODY = 100_000
SERVER = f"""\
workers = {WORKERS}
detect = false
keys = ["{KEY}"]
admin_keys = ["{ADMIN}"]
max_body = {MAX_BODY}
first_byte_timeout = 5
idle_timeout = 5
connect_timeout = 5
ping = 0.5
"""
ROUTES = """\
[[route]]
model = "anthropic/*"
to = "anthropic/*"
[[route]]
model = "chat/*"
to = "chat/*"
"""
GROWTH = 1.05  # of memory, between the second quarter and the last
RECORD_SECONDS = 5.0  # until the record of a request must be there
MOST_REDIS = 32  # connections
MOST_SENT = 4  # requests to the upstream for one of a client: two attempts, each perhaps sent again
AROUND = 2.0  # seconds around a disturbance in which it is the cause
RESPONSES = "openai-responses"
PATHS = {**replies.PATHS, RESPONSES: "/v1/responses"}


@dataclass(frozen=True)
class Kind:
    """`model` asks the upstream for a fault; `leaves`: the client disconnects after so many reads, or after a moment (-1)."""

    name: str
    weight: int
    model: str = "plain"
    stream: bool = True
    status: int = 200
    code: str = ""  # of the cause, in the gateway's record
    leaves: int = 0
    asks: int = 1  # requests to the upstream, for each response
    resent: bool = False  # some more: the upstream closes kept connections, so the request is sent again


KINDS = (
    Kind("stream", 40),
    Kind("whole", 25, stream=False),
    Kind("thread", 6, stream=False),  # a stored response, and the one that continues it
    Kind("cut", 6, "cut-{n}", code="cut_off"),
    Kind("stall", 3, "stall-{n}", code="timeout_idle"),
    Kind("half a reply", 3, "half", stream=False, status=502, code="cut_off", asks=2),
    Kind("closed at once", 2, "close", status=502, code="cut_off", asks=2, resent=True),
    Kind("500", 4, "fail-500", status=500, code="api_error", asks=2),
    Kind("429", 4, "fail-429", status=429, code="api_error"),
    Kind("hangs", 2, "hang", stream=False, status=504, code="timeout_first_byte"),
    Kind("leaves a stream", 8, "left", leaves=5),
    Kind("leaves a hang", 3, "hang-left", leaves=-1),
    Kind("leaves its request", 2, "left-early", leaves=-1),  # after half of it
    Kind("no JSON", 2, "bad", status=400, code="invalid_request_error", asks=0),
    Kind("no key", 2, "keyless", status=401, code="invalid_api_key", asks=0),
    Kind("unknown model", 2, "nowhere", status=404, code="model_not_found", asks=0),
    Kind("too large", 2, "large", status=413, code="request_too_large", asks=0),
)
DISTURBANCES = ("a worker is killed", "Redis stops", "Redis is killed", "the configuration is read again")
TOOLS = {wire: json.loads(replies.request(wire, "x", stream=False))["tools"] for wire in (CHAT, ANTHROPIC)}


# -- what a client receives: the text, the calls' arguments, whether it ended, whether it got an error

Received = tuple[str, list[str], bool, bool]


def read_whole(wire: str, body: bytes) -> Received:
    reply = json.loads(body)
    if wire == CHAT:
        choice = reply["choices"][0]
        return choice["message"]["content"], [], choice["finish_reason"] == "stop", False
    if wire == RESPONSES:
        text = "".join(part["text"] for item in reply["output"] for part in item["content"])
        return text, [], reply["status"] == "completed", False
    return "".join(block["text"] for block in reply["content"]), [], reply["stop_reason"] == "end_turn", False


def read_stream(wire: str, body: bytes) -> Received:
    text, calls, ended, error = "", list[str](), False, False
    for line in body.split(b"\n"):
        if not line.startswith(b"data: "):
            continue
        if line == b"data: [DONE]":
            ended = True
            continue
        event = json.loads(line[6:])
        error = error or "error" in event
        if wire == CHAT:
            for choice in event.get("choices", ()):
                text += choice["delta"].get("content") or ""
                calls += [call["function"]["arguments"] for call in choice["delta"].get("tool_calls", ())]
        elif event["type"] == "content_block_delta":
            text += event["delta"].get("text", "")
            calls += [event["delta"]["partial_json"]] if event["delta"].get("partial_json") else []
        else:
            ended = ended or event["type"] == "message_stop"
    return text, ["".join(calls)] if calls else [], ended, error


def is_complete(wire: str, body: bytes) -> bool:
    _, _, ended, error = read_stream(wire, body)
    return ended or error


class CutError(Exception):
    """The connection broke before the response was complete. Only the kill of a worker may be the cause."""


class WrongError(Exception):
    """Something that may not be."""


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes


class Exchange:
    """One request of a kind, or two for a thread."""

    def __init__(self, kind: Kind, port: int, number: int) -> None:
        self.kind, self.port = kind, port
        self.wire, self.there = random.choice((CHAT, ANTHROPIC)), random.choice((CHAT, ANTHROPIC))
        if kind.name == "thread":
            self.wire = RESPONSES
        self.tag = f"t{number:07d}"
        self.words = random.choice((1, 12, 47, 88))  # that come before a stream breaks off; few, for each makes a model's name
        self.answered: list[tuple[str, int]] = []  # id and status of each complete response

    @property
    def model(self) -> str:
        events = self.words + (2 if self.there == ANTHROPIC else 0)  # two open the message
        name = self.kind.model.format(n=events)
        return name if name == "nowhere" else f"{'anthropic' if self.there == ANTHROPIC else 'chat'}/{name}"

    def request(self, **more: Any) -> bytes:
        body: dict[str, Any] = {"model": self.model, "stream": self.kind.stream, **more}
        if self.wire != RESPONSES:
            messages = [{"role": "user", "content": f"tag:{self.tag} go on"}]
            body |= {"max_tokens": 500, "messages": messages, "tools": TOOLS[self.wire]}
        data = json.dumps(body).encode()
        length = len(data)
        if self.kind.name == "no JSON":
            data = data[: length - 1] + b","
        elif self.kind.name == "too large":
            length, data = 2 * MAX_BODY, data[:100]
        elif self.kind.name == "leaves its request":
            data = data[: length // 2]
        auth = "" if self.kind.name == "no key" else f"Authorization: Bearer {KEY}\r\n"
        head = f"POST {PATHS[self.wire]} HTTP/1.1\r\nHost: 127.0.0.1\r\n{auth}Content-Type: application/json\r\n"
        return f"{head}Connection: close\r\nContent-Length: {length}\r\n\r\n".encode() + data

    async def run(self) -> None:
        """Raises if the outcome is not the right one."""
        if self.kind.leaves:
            await self._leave()
            return
        if self.wire != RESPONSES:
            self._check(await self._send(self.request()))
            return
        first = await self._send(self.request(input=f"tag:{self.tag} go on"))
        self._check(first)
        self._check(await self._send(self.request(input="more", previous_response_id=json.loads(first.body)["id"])))

    async def _leave(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self.request())
            if self.kind.leaves < 0:
                await asyncio.sleep(random.uniform(0, 0.3))
            for _ in range(self.kind.leaves):
                await reader.read(200)
        finally:
            writer.transport.abort()

    async def _send(self, request: bytes) -> Response:
        response = await send(self.port, request)
        if self.kind.stream and response.status == 200 and not is_complete(self.wire, response.body):
            raise CutError
        self.answered.append((response.headers.get("x-request-id", ""), response.status))
        return response

    def _check(self, response: Response) -> None:
        if response.status != self.kind.status:
            raise WrongError(f"status {response.status} for {self.kind.status}: {response.body[-300:]!r}")
        if response.status != 200:
            return
        text, calls, ended, error = (read_stream if self.kind.stream else read_whole)(self.wire, response.body)
        expected = replies.soak_text(self.tag).split()
        if self.kind.model.startswith(("cut", "stall")):
            if not error:
                raise WrongError("the stream ended early without an error")
            if text.split() != expected[: self.words]:
                raise WrongError(f"{self.words} words for {text!r}")
            return
        if error or not ended:
            raise WrongError(f"no proper end: {response.body[-300:]!r}")
        if text.split() != expected:
            raise WrongError(f"other words: {text!r}")
        if self.kind.stream and [json.loads(call)["title"] for call in calls] != [self.tag]:
            raise WrongError(f"other calls: {calls}")


async def send(port: int, request: bytes) -> Response:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            data = await reader.read()
        finally:
            writer.transport.abort()
    except ConnectionError:
        raise CutError from None
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    if len(lines[0].split()) < 2 or len(body) < int(headers.get("content-length", 0)):
        raise CutError
    with suppress(ValueError):  # a chunk that is cut; the rest is read as it is
        body = body_of(data)
    return Response(int(lines[0].split()[1]), headers, body)


async def get(port: int, path: str, key: str = ADMIN) -> Response:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\r\n"
    return await send(port, head.encode())


# -- what disturbs the gateway


@dataclass
class Processes:
    """The gateway's and Redis's."""

    redis_port: int
    gateway: Any = None  # a Server, once it is started
    redis: subprocess.Popen[str] | None = None

    def start_redis(self) -> None:
        command = [shutil.which("redis-server") or "", "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", ""]
        self.redis = subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop_redis(self) -> None:
        if self.redis is not None:
            self.redis.kill()
            self.redis.wait()

    def workers(self) -> list[int]:
        """The oldest first."""
        master = self.gateway.process.pid
        found = Path(f"/proc/{master}/task/{master}/children").read_text(encoding="ascii").split()
        return sorted(map(int, found), key=lambda pid: int(_stat(pid)[19]))  # by the time of its start

    async def disturb(self, name: str) -> None:
        """The oldest worker is spared: its memory is watched."""
        assert self.redis is not None
        match name:
            case "a worker is killed":
                if len(workers := self.workers()) > 1:
                    os.kill(workers[-1], signal.SIGKILL)
            case "Redis stops":
                self.redis.send_signal(signal.SIGSTOP)
                await asyncio.sleep(4)
                self.redis.send_signal(signal.SIGCONT)
            case "Redis is killed":
                self.stop_redis()
                await asyncio.sleep(4)
                self.start_redis()
            case _:
                self.gateway.process.send_signal(signal.SIGHUP)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()


def _memory(pid: int) -> float:
    """Resident, in MB (10^6 bytes)."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(text.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6


def _files(pid: int, redis_port: int) -> tuple[int, int]:
    """Open files, and of them connections to Redis: its client keeps those that it once needed, up to 32."""
    lines = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    to_redis = {f"socket:[{line[9]}]" for line in lines if int(line[2].partition(":")[2], 16) == redis_port}
    files = []
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            files.append(os.readlink(one))
    return len(files), sum(file in to_redis for file in files)


# -- the run


@dataclass
class Seen:
    count: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    by_group: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # wire, model, status -> answered requests
    left: Counter[str] = field(default_factory=Counter)  # model -> requests whose client left
    left_by_kill: int = 0  # of the requests whose client left: while a worker was killed
    disturbed: list[tuple[str, float, float]] = field(default_factory=list)  # what, from, until
    cut: int = 0  # by a killed worker
    without_record: int = 0  # of a killed worker
    without_history: int = 0  # while Redis was away
    without_redis: int = 0  # the same, but it was only too slow for the gateway, which said so
    memory: list[dict[str, float]] = field(default_factory=list)
    slowest: float = 0.0

    def cause(self, start: float, *names: str) -> bool:
        """Whether one of these disturbances fell into the time since `start`."""
        return any(name in names and begin < time.monotonic() and end + AROUND > start for name, begin, end in self.disturbed)


class Soak:
    def __init__(self, processes: Processes, minutes: float, rate: float) -> None:
        self.processes, self.port, self.rate = processes, processes.gateway.port, rate
        self.seconds = minutes * 60
        self.until = time.monotonic() + self.seconds
        self.seen = Seen()
        workers = processes.workers()
        self.watched = {"master": processes.gateway.process.pid, "oldest worker": workers[0]}
        self.files = self.open_files()

    def open_files(self) -> dict[str, int]:
        """Without connections to Redis."""
        found = {name: _files(pid, self.processes.redis_port) for name, pid in self.watched.items()}
        assert all(to_redis <= MOST_REDIS for _, to_redis in found.values()), found
        return {name: files - to_redis for name, (files, to_redis) in found.items()}

    async def run(self) -> Seen:
        background = [asyncio.create_task(job) for job in (self._look(), self._disturb())]
        running: set[asyncio.Task[None]] = set()
        number, due = 0, time.monotonic()
        while time.monotonic() < self.until:
            number += 1
            kind = random.choices(KINDS, [one.weight for one in KINDS])[0]
            task = asyncio.create_task(self._one(Exchange(kind, self.port, number)))
            running.add(task)
            task.add_done_callback(running.discard)
            due += random.expovariate(self.rate)  # bursts and pauses, like real requests
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await asyncio.gather(*running)
        for job in background:
            job.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        return self.seen

    async def _look(self) -> None:
        while True:
            self.seen.memory.append({name: _memory(pid) for name, pid in self.watched.items()})
            await asyncio.sleep(1)

    async def _disturb(self) -> None:
        pause = min(75.0, self.seconds / 12)  # each of them at least twice
        while time.monotonic() + pause + 10 < self.until:
            for name in DISTURBANCES:
                await asyncio.sleep(pause)
                row = (name, time.monotonic(), float("inf"))
                self.seen.disturbed.append(row)
                await self.processes.disturb(name)
                self.seen.disturbed[self.seen.disturbed.index(row)] = (name, row[1], time.monotonic())

    async def _one(self, exchange: Exchange) -> None:
        seen, kind, start = self.seen, exchange.kind, time.monotonic()
        wrong, is_right = None, False
        try:
            await asyncio.wait_for(exchange.run(), HUNG)
            is_right = True
        except TimeoutError:
            wrong = "hung"
        except CutError:
            if seen.cause(start, "a worker is killed"):
                seen.cut += 1
            else:
                wrong = "the connection broke, and no worker was killed"
        except Exception as error:  # noqa: BLE001  (whatever it is, it is a finding)
            wrong = str(error) if isinstance(error, WrongError) else f"{type(error).__name__}: {error}"
            if kind.name == "thread" and "previous_response_id" in wrong:  # what is stored without Redis stays on its gateway
                by_us, by_itself = seen.cause(start, *DISTURBANCES[:3]), redis_failed(start)
                wrong = None if by_us or by_itself else wrong
                seen.without_history += by_us
                seen.without_redis += by_itself and not by_us
        seen.slowest = max(seen.slowest, time.monotonic() - start)
        seen.count[kind.name] += 1
        model = exchange.model.partition("/")[2] if kind.asks else ""
        if kind.leaves:
            seen.left[model] += 1
            seen.left_by_kill += seen.cause(start, "a worker is killed")
        for id, status in exchange.answered:
            seen.by_group[exchange.wire, model if status == kind.status else "", str(status)] += 1
            if is_right:
                wrong = wrong or await self._record(exchange.kind, id, start)
        if wrong is not None:
            seen.wrong.append(f"{kind.name}, {exchange.wire} > {exchange.there}, {exchange.tag}: {wrong}")

    async def _record(self, kind: Kind, id: str, start: float) -> str | None:
        """What is wrong with the gateway's record of an answered request. It is found by its id, on any worker."""
        found = Response(0, {}, b"")
        until = time.monotonic() + RECORD_SECONDS
        while found.status != 200 and time.monotonic() < until:
            with suppress(CutError):
                found = await get(self.port, f"/toolglot/decisions/{id}")
            if found.status != 200:
                await asyncio.sleep(0.1)
        if found.status != 200:
            if self.seen.cause(start, "a worker is killed"):
                self.seen.without_record += 1
                return None
            return f"no record of {id}: {found.status}"
        record = json.loads(found.body)
        outcome = (record["status"], record.get("code", ""))
        if outcome != (kind.status, kind.code):
            return f"recorded as {outcome}"
        resent = record.get("resent", 0)
        due = record.get("sent", 0) - resent == kind.asks and (kind.resent or not resent)
        return (
            None if due else f"{record.get('sent', 0)} requests to the upstream, {resent} of them again; {kind.asks} were due"
        )


def redis_failed(start: float) -> bool:
    """Whether the gateway logged that Redis fails, since then."""
    begin = time.time() - (time.monotonic() - start) - AROUND
    lines = (OUT / "toolglot.log").read_text(encoding="utf-8", errors="replace").splitlines()
    said = [line[:19] for line in lines if "Redis failed" in line]
    return any(time.mktime(time.strptime(at, "%Y-%m-%d %H:%M:%S")) > begin for at in said)


def counted(metrics: str) -> Counter[tuple[str, str, str]]:
    """The gateway's count of requests by wire, model and status."""
    found: Counter[tuple[str, str, str]] = Counter()
    for line in metrics.splitlines():
        if line.startswith("toolglot_requests_total{"):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            found[labels["wire"], labels["model"], labels["status"]] += int(float(line.rpartition(" ")[2]))
    return found


def verdicts(soak: Soak, metrics: str, behind: dict[str, int], files: dict[str, int], ready: str) -> list[tuple[str, bool]]:
    seen, by_gateway = soak.seen, counted(metrics)
    hung = sum(wrong.endswith(": hung") for wrong in seen.wrong)
    of_left = Counter({group: number for group, number in by_gateway.items() if group[1] in seen.left or group[2] == "499"})
    by_gateway -= of_left
    lost, more = seen.by_group - by_gateway, by_gateway - seen.by_group
    running = next(line.split()[1] for line in metrics.splitlines() if line.startswith("toolglot_running_requests "))
    kills = sum(name == DISTURBANCES[0] for name, _, _ in seen.disturbed)
    found = [
        (f"no request hung: {hung} did; the slowest took {seen.slowest:.1f} s", not hung),
        (
            "no chunk was lost, doubled or another's, and every fault was reported with its cause:"
            f" {len(seen.wrong) - hung} wrong",
            not seen.wrong,
        ),
        (
            f"{seen.cut} requests were cut, all while a worker was killed ({kills} times);"
            f" {seen.without_history} did not find their history, all while Redis was away, and {seen.without_redis} more,"
            " all while the gateway logged that it was too slow",
            True,
        ),
        (
            f"the gateway counted what clients got, {seen.by_group.total():,} responses by wire, model and status:"
            f" {lost.total()} less, lost with a killed worker; {more.total()} more, of those that were cut",
            lost.total() <= seen.without_record and more.total() <= seen.cut,
        ),
        (
            f"of {seen.left.total():,} requests whose client left, {of_left.total():,} were read and counted",
            of_left.total() <= seen.left.total() + seen.cut,
        ),
        _upstream_requests(seen, metrics, behind["asked"]),
    ]
    for name in soak.watched:
        series = [each[name] for each in seen.memory]
        quarter = max(1, len(series) // 4)
        early, late = statistics.median(series[quarter : 2 * quarter]), statistics.median(series[-quarter:])
        text = f"memory of the {name} is flat: {early:.1f} MB in the second quarter, {late:.1f} in the last"
        found.append((text, late <= early * GROWTH))
        text = f"no file of the {name} is left open: {soak.files[name]} before, {files[name]} after"
        found.append((text, files[name] <= soak.files[name] + 4))
    text = f"nothing runs on: {float(running):g} in the gateway, {behind['streaming']} at the upstream; /readyz says {ready}"
    found.append((text, float(running) == 0 and not behind["streaming"] and ready == "ready"))
    return found


def _upstream_requests(seen: Seen, metrics: str, asked: int) -> tuple[str, bool]:
    """What the gateway counted as sent, and what came. Each record was compared with what its kind of request needs."""
    totals = dict(line.split() for line in metrics.splitlines() if line.startswith("toolglot_upstream_"))
    sent, resent = (int(float(totals[f"toolglot_upstream_{name}_total"])) for name in ("requests", "resent"))
    killed = seen.cut + seen.without_record + seen.left_by_kill  # they have no record
    text = f"the upstream got {asked:,} requests, the gateway counted {sent:,}, {resent:,} of them sent again after `close`"
    more, less = asked - sent, sent - asked
    text += (
        f"; {more} more, of {killed} whose worker was killed"
        if more > 0
        else f"; {less} less, of {seen.left.total():,} that were left"
    )
    return text, -seen.left.total() <= more <= MOST_SENT * killed


async def after(soak: Soak, behind: Server) -> list[tuple[str, bool]]:
    await asyncio.sleep(8)  # kept connections may stay; what was left must have ended
    port, processes = soak.port, soak.processes
    ready = json.loads((await get(port, "/readyz")).body)["status"]
    metrics = (await get(port, "/metrics")).body.decode()
    state = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{behind.port}/state", timeout=10).read())
    kept = state["open"] - 1  # connections to the upstream that wait for another request; one is this question's
    files = soak.open_files()
    files["oldest worker"] -= min(kept, files["oldest worker"] - soak.files["oldest worker"])
    if soak.watched["oldest worker"] not in processes.workers():
        return [("the oldest worker died", False)]
    return verdicts(soak, metrics, state, files, ready)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=2.0)
    options.add_argument("--rate", type=float, default=20.0, help="requests per second")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--write", action="store_true", help="the result, into the docs")
    chosen = options.parse_args()
    if shutil.which("redis-server") is None:
        options.error("needs redis-server (Debian: apt-get install redis-server)")
    random.seed(chosen.seed)
    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.soak_files(OUT / "soak"), None, PAUSE_US)
        with socket.create_server(("127.0.0.1", 0)) as free:
            redis_port = free.getsockname()[1]
        state = f'state = "redis://127.0.0.1:{redis_port}/0"\n'
        processes = Processes(redis_port)
        processes.start_redis()
        stack.callback(processes.stop_redis)
        processes.gateway = servers.toolglot(stack, behind, None, SERVER + state, ROUTES)
        while len(processes.workers()) < WORKERS:
            time.sleep(0.1)
        time.sleep(2)
        soak, found = uvloop.run(_run(processes, behind, chosen.minutes, chosen.rate))
    seen = soak.seen
    kinds = ", ".join(f"{name} {count:,}" for name, count in seen.count.most_common())
    total = sum(seen.count.values())
    disturbed = Counter(name for name, _, _ in seen.disturbed)
    requests = f"{total:,} requests in {chosen.minutes:g} minutes to {WORKERS} workers and a Redis: {kinds}"
    disturbances = "meanwhile: " + ", ".join(f"{name} {count} times" for name, count in disturbed.items())
    if chosen.write:
        lines = [requests, disturbances, *(f"{'good' if well else 'wrong'}: {message}" for message, well in found)]
        figures.put("soak", "\n".join(f"- {line}" for line in lines))
    print(f"{requests}\n{disturbances}\n")
    for message, well in found:
        print(f"{'good ' if well else 'WRONG'}  {message}")
    for wrong in seen.wrong[:20]:
        print(f"       {wrong[:500]}")
    return 0 if all(well for _, well in found) else 1


async def _run(processes: Processes, behind: Server, minutes: float, rate: float) -> tuple[Soak, list[tuple[str, bool]]]:
    soak = Soak(processes, minutes, rate)
    await soak.run()
    return soak, await after(soak, behind)


if __name__ == "__main__":
    sys.exit(main())
