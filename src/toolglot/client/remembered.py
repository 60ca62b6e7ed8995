"""What worked is remembered: how often each way of asking gave a good call, by server and model.

Counts only, no content, in one small file in the user's cache directory. They are gathered in memory and written now and then,
as a whole and at once, so that the file is never half written; two processes that write at the same moment lose counts at most.
TOOLGLOT_REMEMBER=0 turns it off.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

import msgspec

from toolglot.catalog.providers import Provider, providers
from toolglot.client.home import cache_folder, is_homeless
from toolglot.client.http.url import parse_url
from toolglot.errors import CallerError
from toolglot.pipeline.doubt import DOUBTED
from toolglot.pipeline.ways import Tally
from toolglot.text.json_text import BadJson

FORMAT = 1
MOST_ENTRIES = 512
MOST_TRIES = 64  # then the counts of a way are halved, so that what is new weighs more than what is old
HALF_LIFE = 30 * 86_400.0  # seconds after which counts that nothing was added to are halved as well
BATCH, PAUSE = 256, 30.0  # what is new is written after so many calls, or so many seconds
_LONGEST_NAME, _LARGEST_FILE, _MOST_WAYS = 200, 4 << 20, 32
_WAY = re.compile(r"native|constrained|dialect:[a-z0-9_]{1,64}")
_OFF = frozenset({"0", "no", "off", "false"})
_log = logging.getLogger("toolglot")

Counts = tuple[int, int]  # tried, good
Key = tuple[str, str]  # server, model


class Entry(msgspec.Struct, frozen=True):
    server: str
    model: str
    seen: float  # seconds since 1970
    ways: dict[str, Counts]


class _File(msgspec.Struct, frozen=True):
    format: int
    entries: list[Entry]


def path_by_default() -> Path:
    return cache_folder() / "ways.json"


def server_name(row: Provider) -> str:
    """The provider's name; where the address is one's own, with a hash of the host, which tells servers apart and no more."""
    usual = providers().get(row.name)
    if usual is not None and usual.base_url.rstrip("/") == row.base_url.rstrip("/"):
        return row.name
    try:
        host = parse_url(row.base_url).authority
    except CallerError:
        host = row.base_url
    return f"{row.name}@{hashlib.sha256(host.encode()).hexdigest()[:12]}"


def went_well(calls: int, codes: Iterable[str]) -> bool | None:
    """Of a reply with so many calls that left: whether the way of asking was good. None: it made no call, and tried none.

    A call that is wrong in itself (invented, repeated) is written well: how the model was asked has no part in it.
    """
    bad = any(code == "missing_call" or (code.startswith("rejected_") and code not in DOUBTED) for code in codes)
    return calls > 0 and not bad if calls or bad else None


class Remembered:
    """Safe from several threads. Only `clear` and `take_in`, which a person asks for, raise where the file can't be written."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self.path = path or path_by_default()
        self.on = not is_homeless(self.path) and os.environ.get("TOOLGLOT_REMEMBER", "").strip().lower() not in _OFF
        self.notes: list[str] = []
        self._clock = clock
        self._lock = threading.Lock()
        self._held: dict[Key, Entry] | None = None  # as in the file when it was last read, with what is new
        self._new: dict[Key, dict[str, Counts]] = {}
        self._waiting = 0
        self._written = clock()

    def tallies(self, server: str, model: str) -> Mapping[str, Tally]:
        with self._lock:
            entry = self._all().get(_key(server, model))
            return {way: Tally(*counts) for way, counts in entry.ways.items()} if entry else {}

    def entries(self) -> tuple[Entry, ...]:
        with self._lock:
            return tuple(self._all().values())

    def note(self, server: str, model: str, way: str, good: bool) -> None:
        """One call that was asked for in this way: was it good?"""
        if not self.on or not _WAY.fullmatch(way):
            return
        with self._lock:
            key, held, one = _key(server, model), self._all(), (1, int(good))
            held[key] = _added(held.get(key), key, {way: one}, self._clock())
            self._held = _bounded(held)
            new = self._new.setdefault(key, {})
            new[way] = _sum(new.get(way, (0, 0)), one)
            self._waiting += 1
            if self._waiting >= BATCH or self._clock() - self._written >= PAUSE:
                self._write_new()

    def flush(self) -> None:
        """Write what is new. Called when a client is closed; cheap where there is nothing."""
        with self._lock:
            if self._waiting:
                self._write_new()

    def clear(self, server: str | None = None, model: str | None = None) -> int:
        """Forget all, or what is of this server, this model, or both. How many entries went."""

        def meant(key: Key) -> bool:
            return server in {None, key[0]} and (model is None or _key(key[0], model) == key)

        with self._lock:
            held = self._merged()
            kept = {key: entry for key, entry in held.items() if not meant(key)}
            if len(kept) < len(held) or self.path.exists():
                self._save(kept)
            return len(held) - len(kept)

    def export(self) -> bytes:
        """To share: what is known of servers that others have too. Entries of addresses of one's own stay here."""
        shared = [entry for entry in self.entries() if "@" not in entry.server]
        return msgspec.json.format(msgspec.json.encode(_File(FORMAT, shared)))

    def take_in(self, data: bytes) -> int:
        """What another has exported. Of each way the count with more tries is kept: the same file twice changes nothing."""
        try:
            given = _sound(msgspec.json.decode(data, type=_File), self._clock())
        except BadJson as error:
            raise CallerError(f"is no file that `toolglot models --export` wrote: {error}") from None
        with self._lock:
            held = self._merged()
            for key, entry in given.items():
                own = held[key].ways if key in held else {}
                ways = {way: max(own.get(way, (0, 0)), entry.ways.get(way, (0, 0))) for way in {**own, **entry.ways}}
                held[key] = Entry(*key, max(entry.seen, held[key].seen if key in held else 0.0), ways)
            self._save(held)
        return len(given)

    # -- under the lock

    def _all(self) -> dict[Key, Entry]:
        if not self.on:
            return {}
        if self._held is None:
            self._held = self._read()
        return self._held

    def _read(self) -> dict[Key, Entry]:
        try:
            with self.path.open("rb") as file:
                data = file.read(_LARGEST_FILE)  # what is cut off is no JSON
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._tell(f"{self.path} can't be read ({error.strerror}): nothing is remembered")
            return {}
        try:
            return _sound(msgspec.json.decode(data, type=_File), self._clock())
        except BadJson:
            self._tell(f"{self.path} was damaged: what was remembered of ways of asking is started anew")
            return {}

    def _merged(self) -> dict[Key, Entry]:
        """What is in the file now, perhaps by another process, and what is new here."""
        held, now = self._read(), self._clock()
        for key, ways in self._new.items():
            held[key] = _added(held.get(key), key, ways, now)
        return held

    def _write_new(self) -> None:
        try:
            self._save(self._merged())
        except CallerError as error:
            self._tell(str(error))
            self._done()

    def _save(self, entries: dict[Key, Entry]) -> None:
        entries = _bounded(entries)
        try:
            _replace(self.path, msgspec.json.encode(_File(FORMAT, list(entries.values()))))
        except OSError as error:
            raise CallerError(f"{self.path} can't be written ({error.strerror}): set TOOLGLOT_CACHE") from error
        self._held = entries
        self._done()

    def _done(self) -> None:
        self._new, self._waiting, self._written = {}, 0, self._clock()

    def _tell(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
            _log.warning(note)


def _key(server: str, model: str) -> Key:
    """A model that is a file is known by the file's name: where it lies is nobody's business."""
    if model.startswith(("/", "~", ".")) or "\\" in model:
        model = PureWindowsPath(model).name if "\\" in model else PurePosixPath(model).name
    return server[:_LONGEST_NAME], model[:_LONGEST_NAME]


def _sum(one: Counts, other: Counts) -> Counts:
    tried, good = one[0] + other[0], one[1] + other[1]
    while tried > MOST_TRIES:
        tried, good = tried // 2, good // 2
    return tried, good


def _added(entry: Entry | None, key: Key, more: Mapping[str, Counts], now: float) -> Entry:
    ways = dict(entry.ways) if entry else {}
    for way, counts in more.items():
        ways[way] = _sum(ways.get(way, (0, 0)), counts)
    return Entry(*key, now, ways)


def _bounded(entries: dict[Key, Entry]) -> dict[Key, Entry]:
    """Without those that nothing was added to for the longest time."""
    if len(entries) <= MOST_ENTRIES:
        return entries
    latest = sorted(entries.values(), key=lambda entry: entry.seen)[-MOST_ENTRIES:]
    return {(entry.server, entry.model): entry for entry in latest}


def _sound(file: _File, now: float) -> dict[Key, Entry]:
    """The entries of a file, whoever wrote it: possible counts of known ways, and halved for each half-life they are old."""
    if file.format != FORMAT:
        raise ValueError(f"its format is {file.format}, not {FORMAT}")
    found: dict[Key, Entry] = {}
    for entry in file.entries:
        key, seen = _key(entry.server, entry.model), min(entry.seen, now)
        lives = min(int(max(0.0, now - seen) // HALF_LIFE), 32)
        ways = {}
        for way, (tried, good) in list(entry.ways.items())[:_MOST_WAYS]:
            counts = _sum((0, 0), (max(0, tried) >> lives, max(0, min(tried, good)) >> lives))
            if _WAY.fullmatch(way) and counts[0]:
                ways[way] = counts
        if ways:
            found[key] = Entry(*key, seen + lives * HALF_LIFE, ways)
    return found


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
