"""Statistics of tool modes: how often each gave a good call, by server and model.

Counts only, no content, in one small file in the user's cache directory. They are collected in memory and written in batches.
The file is replaced atomically; two processes that write at the same moment lose counts at most. TOOLGLOT_REMEMBER=0 turns it
off.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

import msgspec

from toolglot.catalog.providers import Provider, providers
from toolglot.client.http.url import parse_url
from toolglot.client.user_dirs import cache_folder, is_homeless
from toolglot.core.log import log
from toolglot.errors import CallerError
from toolglot.io.json_codec import JSON_ERRORS
from toolglot.pipeline.request.tool_mode import ModeCount
from toolglot.pipeline.response.grounding import REPEATED, UNGROUNDED

FORMAT = 1
MOST_ENTRIES = 512
MOST_TRIES = 64  # then the counts of a mode are halved, so that new ones weigh more than old ones
HALF_LIFE = 30 * 86_400.0  # seconds without new counts after which they are halved as well
BATCH, PAUSE = 256, 30.0  # new counts are written after so many calls, or so many seconds
_LONGEST_NAME, _LARGEST_FILE, _MOST_MODES = 200, 4 << 20, 32
_MODE = re.compile(r"native|constrained|dialect:[a-z0-9_]{1,64}")
_OFF = frozenset({"0", "no", "off", "false"})

AS_TEXT = "rescued_text"

Counts = tuple[int, int]  # tried, good
Key = tuple[str, str]  # server, model
NewCounts = dict[Key, dict[str, Counts]]


class Entry(msgspec.Struct, frozen=True):
    server: str
    model: str
    seen: float  # seconds since 1970
    tool_modes: dict[str, Counts]


class _File(msgspec.Struct, frozen=True):
    format: int
    entries: list[Entry]


def default_path() -> Path:
    return cache_folder() / "tool_modes.json"


def server_name(row: Provider) -> str:
    """The provider's name; with a hash of the host where the address is not the catalog's, so that servers stay apart."""
    usual = providers().get(row.name)
    if usual is not None and usual.base_url.rstrip("/") == row.base_url.rstrip("/"):
        return row.name
    try:
        host = parse_url(row.base_url).authority
    except CallerError:
        host = row.base_url
    return f"{row.name}@{hashlib.sha256(host.encode()).hexdigest()[:12]}"


def was_good(calls: int, codes: Collection[str], *, declared: bool = False) -> bool | None:
    """Whether the tool mode worked, from the number of accepted calls and the decision codes. None: no call was attempted.

    An ungrounded or repeated call is well-formed: it says nothing about the tool mode. `declared`: native tools that
    were not seen to work before; a call that came as text shows that they don't.
    """
    if declared and AS_TEXT in codes:
        return False
    bad = False
    for code in codes:
        bad = bad or code == "missing_call" or (code.startswith("rejected_") and code not in (UNGROUNDED, REPEATED))
    return calls > 0 and not bad if calls or bad else None


class ModeStats:
    """Thread-safe. Only `clear` and `add_exported`, which a user runs, raise where the file can't be written."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self.path = path or default_path()
        self.on = not is_homeless(self.path) and os.environ.get("TOOLGLOT_REMEMBER", "").strip().lower() not in _OFF
        self.notes: list[str] = []
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[Key, Entry] | None = None  # of the file when it was last read, with the new counts
        self._new: NewCounts = {}
        self._unwritten = 0
        self._written = clock()
        self._is_shared = False  # then the new counts are not for the file

    def mode_counts(self, server: str, model: str) -> Mapping[str, ModeCount]:
        with self._lock:
            entry = self._all().get(_key(server, model))
            return {tool_mode: ModeCount(*counts) for tool_mode, counts in entry.tool_modes.items()} if entry else {}

    def entries(self) -> tuple[Entry, ...]:
        with self._lock:
            return tuple(self._all().values())

    def note(self, server: str, model: str, tool_mode: str, good: bool) -> None:
        """Count one call in this mode."""
        if not self.on or not _MODE.fullmatch(tool_mode):
            return
        with self._lock:
            key, entries, one = _key(server, model), self._all(), (1, int(good))
            entries[key] = _added(entries.get(key), key, {tool_mode: one}, self._clock())
            self._entries = _bounded(entries)
            new = self._new.setdefault(key, {})
            new[tool_mode] = _sum(new.get(tool_mode, (0, 0)), one)
            self._unwritten += 1
            if not self._is_shared and (self._unwritten >= BATCH or self._clock() - self._written >= PAUSE):
                self._write_new()

    def flush(self) -> None:
        """Write new counts. Called when a client is closed; cheap without new counts."""
        with self._lock:
            if self._unwritten:
                self._write_new()

    def clear(self, server: str | None = None, model: str | None = None) -> int:
        """Delete all entries, or those of this server, this model, or both. Returns how many."""

        def matches(key: Key) -> bool:
            return server in {None, key[0]} and (model is None or _key(key[0], model) == key)

        with self._lock:
            entries = self._merged()
            kept = {key: entry for key, entry in entries.items() if not matches(key)}
            if len(kept) < len(entries) or self.path.exists():
                self._save(kept)
            return len(entries) - len(kept)

    def export(self) -> bytes:
        """The entries to share. Those of private addresses are left out."""
        shared = [entry for entry in self.entries() if "@" not in entry.server]
        return msgspec.json.format(msgspec.json.encode(_File(FORMAT, shared)))

    def add_exported(self, data: bytes) -> int:
        """Import an export. For each mode the count with more tries wins: importing a file twice changes nothing."""
        try:
            imported = _checked(msgspec.json.decode(data, type=_File), self._clock())
        except JSON_ERRORS as error:
            raise CallerError(f"not a file from `toolglot models --export`: {error}") from None
        with self._lock:
            entries = self._merged()
            for key, entry in imported.items():
                current = entries[key].tool_modes if key in entries else {}
                tool_modes = {
                    tool_mode: max(current.get(tool_mode, (0, 0)), entry.tool_modes.get(tool_mode, (0, 0)))
                    for tool_mode in {**current, **entry.tool_modes}
                }
                entries[key] = Entry(*key, max(entry.seen, entries[key].seen if key in entries else 0.0), tool_modes)
            self._save(entries)
        return len(imported)

    # -- shared by several gateways

    def take_new(self) -> NewCounts:
        """The counts since the last time, to be shared."""
        with self._lock:
            new = self._new
            self._done()
            return new

    def merged(self, shared: bytes | None, new: NewCounts) -> bytes:
        """The shared statistics with new counts. The first to share them begins with its file."""
        entries, now = self._read() if shared is None else self._decoded(shared), self._clock()
        for key, tool_modes in new.items():
            entries[key] = _added(entries.get(key), key, tool_modes, now)
        return msgspec.json.encode(_File(FORMAT, list(_bounded(entries).values())))

    def use_shared(self, shared: bytes) -> None:
        """Use the shared statistics, with what was counted meanwhile."""
        with self._lock:
            entries, now = self._decoded(shared), self._clock()
            for key, tool_modes in self._new.items():
                entries[key] = _added(entries.get(key), key, tool_modes, now)
            self._entries, self._is_shared = entries, True

    def keep_local(self, new: NewCounts) -> None:
        """Put back what could not be shared; it goes to the file."""
        with self._lock:
            self._is_shared = False
            for key, tool_modes in new.items():
                current = self._new.setdefault(key, {})
                for tool_mode, counts in tool_modes.items():
                    current[tool_mode] = _sum(current.get(tool_mode, (0, 0)), counts)
                    self._unwritten += 1

    def _decoded(self, shared: bytes) -> dict[Key, Entry]:
        try:
            return _checked(msgspec.json.decode(shared, type=_File), self._clock())
        except JSON_ERRORS:
            self._warn("the shared statistics of tool modes are damaged: they start again")
            return {}

    # -- under the lock

    def _all(self) -> dict[Key, Entry]:
        if not self.on:
            return {}
        if self._entries is None:
            self._entries = self._read()
        return self._entries

    def _read(self) -> dict[Key, Entry]:
        try:
            with self.path.open("rb") as file:
                data = file.read(_LARGEST_FILE)  # a longer file is truncated, and not valid JSON
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._warn(f"{self.path} can't be read ({error.strerror}): no statistics of tool modes")
            return {}
        try:
            return _checked(msgspec.json.decode(data, type=_File), self._clock())
        except JSON_ERRORS:
            self._warn(f"{self.path} is damaged: the statistics of tool modes start again")
            return {}

    def _merged(self) -> dict[Key, Entry]:
        """The entries in the file, which another process may have written, with the new counts."""
        entries, now = self._read(), self._clock()
        for key, tool_modes in self._new.items():
            entries[key] = _added(entries.get(key), key, tool_modes, now)
        return entries

    def _write_new(self) -> None:
        try:
            self._save(self._merged())
        except CallerError as error:
            self._warn(str(error))
            self._done()

    def _save(self, entries: dict[Key, Entry]) -> None:
        entries = _bounded(entries)
        try:
            _replace(self.path, msgspec.json.encode(_File(FORMAT, list(entries.values()))))
        except OSError as error:
            raise CallerError(f"{self.path} can't be written ({error.strerror}): set TOOLGLOT_CACHE") from error
        self._entries = entries
        self._done()

    def _done(self) -> None:
        self._new, self._unwritten, self._written = {}, 0, self._clock()

    def _warn(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
            log.warning(note)


def _key(server: str, model: str) -> Key:
    """A model that is a file is stored by its file name only: the path is private."""
    if model.startswith(("/", "~", ".")) or "\\" in model:
        model = PureWindowsPath(model).name if "\\" in model else PurePosixPath(model).name
    return server[:_LONGEST_NAME], model[:_LONGEST_NAME]


def _sum(one: Counts, other: Counts) -> Counts:
    tried, good = one[0] + other[0], one[1] + other[1]
    while tried > MOST_TRIES:
        tried, good = tried // 2, good // 2
    return tried, good


def _added(entry: Entry | None, key: Key, more: Mapping[str, Counts], now: float) -> Entry:
    tool_modes = dict(entry.tool_modes) if entry else {}
    for tool_mode, counts in more.items():
        tool_modes[tool_mode] = _sum(tool_modes.get(tool_mode, (0, 0)), counts)
    return Entry(*key, now, tool_modes)


def _bounded(entries: dict[Key, Entry]) -> dict[Key, Entry]:
    """Without the entries that are unchanged for the longest time."""
    if len(entries) <= MOST_ENTRIES:
        return entries
    latest = sorted(entries.values(), key=lambda entry: entry.seen)[-MOST_ENTRIES:]
    return {(entry.server, entry.model): entry for entry in latest}


def _checked(file: _File, now: float) -> dict[Key, Entry]:
    """The valid entries of a file: plausible counts of known modes, halved for each half-life of their age."""
    if file.format != FORMAT:
        raise ValueError(f"its format is {file.format}, not {FORMAT}")
    found: dict[Key, Entry] = {}
    for entry in file.entries:
        key, seen = _key(entry.server, entry.model), min(entry.seen, now)
        lives = min(int(max(0.0, now - seen) // HALF_LIFE), 32)
        tool_modes = {}
        for tool_mode, (tried, good) in list(entry.tool_modes.items())[:_MOST_MODES]:
            counts = _sum((0, 0), (max(0, tried) >> lives, max(0, min(tried, good)) >> lives))
            if _MODE.fullmatch(tool_mode) and counts[0]:
                tool_modes[tool_mode] = counts
        if tool_modes:
            found[key] = Entry(*key, seen + lives * HALF_LIFE, tool_modes)
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
