"""Shared state in Redis.

If Redis fails, nothing waits for it: the state is local until a background check finds that Redis responds again. Every key has
a time to live. API keys are not stored: owners are hashes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from typing import Any, TypeVar
from uuid import uuid4

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, WatchError

from toolglot.errors import CallerError
from toolglot.gateway.concurrency import rate_reached, too_many_at_once
from toolglot.gateway.shared_state import Kind

T = TypeVar("T")
_PREFIX = "toolglot:"
_CHANNEL = _PREFIX + "messages"
_CONNECTIONS = 32
_TIMEOUT = 1.5  # seconds for one operation; on a busy machine it may take half a second
_SLOWEST = 10_000_000  # bytes per second: a client's large response must not look like a Redis that failed
_CHECK = 1.0  # seconds between checks whether Redis responds again
_SLOT = 10.0  # seconds after which the slots of a killed gateway are free
_UPDATES = 8  # attempts to replace a value that other gateways write as well
_LONGEST_NAME = 200
_MAX_MESSAGE = 100  # bytes
_log = logging.getLogger("toolglot.gateway")

# Slots are a sorted set of slot ids by expiry; the bucket is its tokens and the time of its last refill. The clock is that of
# Redis, in seconds. Gives: 0 taken, 1 too many at once, 2 rate reached and seconds until the next token.
_TAKE_SLOT = """
local slot, max_concurrent, rate, capacity, seconds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= max_concurrent then return {1, '0'} end
if rate > 0 then
  local bucket = redis.call('HMGET', KEYS[2], 'tokens', 'at')
  local at = tonumber(bucket[2]) or now
  local tokens = math.min(capacity, (tonumber(bucket[1]) or capacity) + math.max(0, now - at) * rate)
  local taken = tokens >= 1
  if taken then tokens = tokens - 1 end
  redis.call('HSET', KEYS[2], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.6f', now))
  redis.call('EXPIRE', KEYS[2], math.ceil(capacity / rate) + 1)
  if not taken then return {2, string.format('%.6f', (1 - tokens) / rate)} end
end
redis.call('ZADD', KEYS[1], string.format('%.6f', now + seconds), slot)
redis.call('EXPIRE', KEYS[1], math.ceil(seconds))
return {0, '0'}
"""
_RENEW_SLOTS = """
local time = redis.call('TIME')
local expiry = string.format('%.6f', time[1] + time[2] / 1000000 + ARGV[1])
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], expiry, ARGV[at]) end
redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[1]))
"""
# The index has a member "<size> <name>" for each value, by time. The total is counted again if it was lost.
_TOTAL = """
local function size_of(member) return tonumber(string.match(member, '^%d+')) end
local total = tonumber(redis.call('GET', KEYS[3]) or '')
if not total then
  total = 0
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do total = total + size_of(member) end
end
local old = redis.call('STRLEN', KEYS[1])
if old > 0 and redis.call('ZREM', KEYS[2], old .. ' ' .. ARGV[1]) == 1 then total = total - old end
"""
_PUT = (
    _TOTAL
    + """
local name, value, prefix = ARGV[1], ARGV[2], ARGV[3]
local seconds, max_items, max_bytes = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('SET', KEYS[1], value, 'EX', seconds)
redis.call('ZADD', KEYS[2], string.format('%.6f', now), #value .. ' ' .. name)
total = total + #value
local function drop(member)
  redis.call('DEL', prefix .. string.match(member, ' (.*)$'))
  total = total - size_of(member)
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - seconds, 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[2], member)
  drop(member)
end
while total > max_bytes or redis.call('ZCARD', KEYS[2]) > max_items do
  local oldest = redis.call('ZPOPMIN', KEYS[2])
  if not oldest[1] then break end
  drop(oldest[1])
end
redis.call('EXPIRE', KEYS[2], seconds)
redis.call('SET', KEYS[3], total, 'EX', seconds)
"""
)
_DELETE = (
    _TOTAL
    + """
if old == 0 then return 0 end
redis.call('SET', KEYS[3], total, 'EX', ARGV[2])
return redis.call('DEL', KEYS[1])
"""
)
_ADD_COUNTS = """
local seconds, max_items = tonumber(ARGV[1]), tonumber(ARGV[2])
for at = 3, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 or redis.call('HLEN', KEYS[1]) < max_items then
    redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1])
  end
end
redis.call('EXPIRE', KEYS[1], seconds)
"""


def _name(id: str) -> str:
    """Clients choose some ids, so long ones are replaced by their hash."""
    return id if len(id) <= _LONGEST_NAME else sha256(id.encode("utf-8", "replace")).hexdigest()


def _keys_of(kind: Kind, id: str) -> tuple[str, str, str]:
    """The keys of a value, of the index of its kind, and of the total of their sizes. The braces: one node of a cluster."""
    place = f"{_PREFIX}{{{kind.name}}}:"
    return f"{place}value:{_name(id)}", place + "index", place + "bytes"


def _limit_keys(owner: str) -> list[str]:
    place = f"{_PREFIX}{{{_name(owner)}}}:"
    return [place + "slots", place + "bucket"]


def _open(url: str) -> Any:  # its types differ between versions
    try:
        pool: Any = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=None,  # `_attempt` limits the time
            socket_timeout=None,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 1),  # a connection that was closed while it was idle
        )
        pool.make_connection()  # raises for an unknown option in the URL
    except (TypeError, ValueError, AttributeError):
        raise CallerError("is not a valid address of a Redis", "[server] state") from None  # it may contain a password
    return Redis.from_pool(pool)


class RedisState:
    is_local = False

    def __init__(self, url: str, slot_seconds: float = _SLOT) -> None:
        self._redis = _open(url)
        self.problem: str | None = None
        self.on_message: Callable[[bytes], None] | None = None
        self._slot_seconds = slot_seconds
        self._gateway = uuid4().hex
        self._number = 0  # of the last slot
        self._taken: dict[str, set[str]] = {}  # owner -> slots of running requests
        self._releasing: set[asyncio.Task[None]] = set()
        script = self._redis.register_script
        self._take_slot, self._renew_slots, self._add_counts = script(_TAKE_SLOT), script(_RENEW_SLOTS), script(_ADD_COUNTS)
        self._put, self._delete = script(_PUT), script(_DELETE)

    # -- failures

    async def _attempt(self, operation: Callable[[], Awaitable[T]], otherwise: T, size: int = 0) -> T:
        """The result, or `otherwise` if Redis fails; then nothing else is attempted until `run` finds it again."""
        if self.problem is not None:
            return otherwise
        try:
            async with asyncio.timeout(_TIMEOUT + size / _SLOWEST):
                return await operation()
        except (RedisError, OSError, TimeoutError) as error:
            self._failed(error)
            return otherwise

    def _failed(self, error: Exception) -> None:
        if self.problem is None:
            kind = type(error).__name__  # not its message: anyone sees it at /readyz
            self.problem = f"Redis failed ({kind}): limits and stored state are local"
            _log.error("%s", self.problem)

    async def run(self) -> None:
        listening = asyncio.create_task(self._listen())
        try:
            while True:
                await asyncio.sleep(_CHECK if self.problem is not None else min(_CHECK, self._slot_seconds / 4))
                if self.problem is not None:
                    await self._check()
                await self._renew()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _check(self) -> None:
        with suppress(RedisError, OSError, TimeoutError):
            async with asyncio.timeout(_TIMEOUT):
                await self._redis.set(f"{_PREFIX}check", self._gateway, ex=60)  # a read-only Redis is of no use
            self.problem = None
            _log.warning("Redis responds again: limits and stored state are shared")

    # -- limits

    async def take_slot(self, owner: str, max_concurrent: int, rate: float, burst: int) -> AbstractContextManager[None]:
        self._number += 1
        slot = f"{self._gateway}:{self._number}"
        capacity = float(burst or max(1.0, 2 * rate))
        arguments = [slot, max_concurrent, rate, capacity, self._slot_seconds]
        try:
            code, wait = await self._attempt(lambda: self._take_slot(_limit_keys(owner), arguments), (0, b"0"))
        except BaseException:
            self._remove_soon(owner, slot)
            raise
        if code:
            raise too_many_at_once(max_concurrent) if code == 1 else rate_reached(rate, float(wait))
        return self._slot(owner, slot)

    @contextmanager
    def _slot(self, owner: str, slot: str) -> Iterator[None]:
        taken = self._taken.setdefault(owner, set())
        taken.add(slot)  # also if Redis failed: it is counted there once Redis responds again
        try:
            yield
        finally:
            taken.discard(slot)
            self._remove_soon(owner, slot)

    def _remove_soon(self, owner: str, *slots: str) -> None:
        """Without waiting: the response is already sent."""
        task = asyncio.ensure_future(self._remove(owner, *slots))
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    async def _remove(self, owner: str, *slots: str) -> None:
        await self._attempt(lambda: self._redis.zrem(_limit_keys(owner)[0], *slots), 0)

    async def _renew(self) -> None:
        """Slots that are not renewed expire: their gateway was killed."""
        for owner, taken in list(self._taken.items()):
            if not taken:
                del self._taken[owner]
                continue
            renewed = tuple(taken)
            arguments = [self._slot_seconds, *renewed]
            await self._attempt(lambda: self._renew_slots(_limit_keys(owner)[:1], arguments), None)  # noqa: B023
            if gone := [slot for slot in renewed if slot not in taken]:  # released meanwhile, so perhaps added again
                self._remove_soon(owner, *gone)

    # -- values

    async def get(self, kind: Kind, id: str) -> bytes | None:
        return await self._attempt(lambda: self._redis.get(_keys_of(kind, id)[0]), None)

    async def put(self, kind: Kind, id: str, value: bytes) -> bool:
        if len(value) > kind.max_bytes // 2:
            return False
        keys = _keys_of(kind, id)
        prefix = keys[0].removesuffix(_name(id))
        arguments = [_name(id), value, prefix, kind.seconds, kind.max_items, kind.max_bytes]

        async def put() -> bool:
            await self._put(keys, arguments)
            return True

        return await self._attempt(put, False, len(value))

    async def delete(self, kind: Kind, id: str) -> bool:
        arguments = [_name(id), kind.seconds]
        return bool(await self._attempt(lambda: self._delete(_keys_of(kind, id), arguments), 0))

    async def names(self, kind: Kind) -> list[str]:
        members: list[bytes] = await self._attempt(lambda: self._redis.zrange(_keys_of(kind, "")[1], 0, -1), [])
        return [member.decode("utf-8", "replace").partition(" ")[2] for member in members]

    async def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes | None:
        key = _keys_of(kind, id)[0]

        async def update() -> bytes | None:
            async with self._redis.pipeline() as pipeline:
                for _ in range(_UPDATES):
                    with suppress(WatchError):  # another gateway was faster
                        await pipeline.watch(key)
                        value = change(await pipeline.get(key))
                        if len(value) > kind.max_bytes:
                            return None
                        pipeline.multi()
                        pipeline.set(key, value, ex=kind.seconds)
                        await pipeline.execute()
                        return value
            return None

        return await self._attempt(update, None)

    # -- counts

    async def add_counts(self, kind: Kind, id: str, counts: Mapping[str, int]) -> bool:
        arguments: list[Any] = [kind.seconds, kind.max_items]
        for name, number in counts.items():
            arguments += [name, number]

        async def add() -> bool:
            await self._add_counts([_keys_of(kind, id)[0]], arguments)
            return True

        return await self._attempt(add, False)

    async def counts(self, kind: Kind, id: str) -> dict[str, int]:
        found: dict[bytes, bytes] = await self._attempt(lambda: self._redis.hgetall(_keys_of(kind, id)[0]), {})
        return {name.decode("utf-8", "replace"): int(number) for name, number in found.items()}

    # -- messages

    async def publish(self, message: bytes) -> None:
        await self._attempt(lambda: self._redis.publish(_CHANNEL, self._gateway.encode() + b" " + message), 0)

    async def _listen(self) -> None:
        while True:
            with suppress(RedisError, OSError, TimeoutError):
                async with self._redis.pubsub() as subscription:
                    await subscription.subscribe(_CHANNEL)
                    async for one in subscription.listen():
                        if one["type"] == "message":
                            self._received(one["data"])
            await asyncio.sleep(_CHECK)

    def _received(self, data: bytes) -> None:
        sender, _, message = data[: _MAX_MESSAGE + 33].partition(b" ")
        if sender != self._gateway.encode() and self.on_message is not None:
            self.on_message(message)

    async def aclose(self) -> None:
        await asyncio.gather(*self._releasing, return_exceptions=True)
        await self._redis.aclose()
