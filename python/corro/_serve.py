# SPDX-License-Identifier: Apache-2.0
"""A venue for tests: the program `corro` on free ports of this machine."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import tomllib
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from corro._journal import Journal, journal
from corro._toml import to_toml

Address: TypeAlias = tuple[str, int]

_LISTED = re.compile(r" +(order entry|FIX|FIX data|feed|snapshots|depth|metrics) +(\S+):(\d+)$|  (API) +ws://([^/]+):(\d+)/")
_READY = "Ctrl-C closes it"
# Addresses of a configuration, by table: what the venue gets is a free port in the place of each.
_LISTENERS = {
    "order_entry": ("listen", "tls_listen", "websocket_listen"),
    "fix": ("listen", "market_data_listen", "tls_listen"),
    "market_data": ("feed_listen", "snapshot_listen", "depth_listen", "retransmission_listen"),
    "metrics": ("listen",),
    "api": ("listen",),
}


@dataclass(frozen=True)
class Account:
    """An account of a venue, with what a client needs to log on."""

    name: str
    id: int
    key: str = field(repr=False)
    sessions: int = 1


def default_configuration() -> dict[str, Any]:
    """The configuration of `serve` without one: two futures, and the accounts alice, bob and carol with new keys.

    Returns
    -------
    dict
        The tables of docs/howto/configure.md; change what you like and give it to `serve`.
    """
    return {
        "venue": {"name": "TEST", "orders_max": 100_000},
        "order_entry": {"listen": "127.0.0.1:0"},
        "market_data": {"feed_listen": "127.0.0.1:0", "snapshot_listen": "127.0.0.1:0"},
        "instrument": [
            {"id": 1, "symbol": "ESZ6", "product": 1, "kind": "future", "tick_size": "0.25", "price_low": "1000",
             "price_high": "9000"},
            {"id": 2, "symbol": "CLF7", "product": 2, "kind": "future", "tick_size": "0.01", "price_low": "1",
             "price_high": "500"},
        ],
        "account": [
            {"id": number, "name": name, "key": secrets.token_hex(32), "sessions": 4}
            for number, name in enumerate(("alice", "bob", "carol"), start=1)
        ],
    }  # fmt: skip


def program(name: str | os.PathLike[str] | None = None) -> str:
    """The program `corro`: the one named, ``$CORRO_PROGRAM``, the package's own, or the one on the path."""
    if name is not None:
        if Path(name).is_file():
            return os.fspath(name)
        raise FileNotFoundError(f"program={os.fspath(name)}: no such file")
    named = os.environ.get("CORRO_PROGRAM")
    if named:
        if Path(named).is_file():
            return named
        raise FileNotFoundError(f"CORRO_PROGRAM={named}: no such file")
    own = Path(__file__).parent / "bin" / "corro"
    found = str(own) if own.is_file() else shutil.which("corro")
    if found is None:
        raise FileNotFoundError(
            "the program corro is not there; build it with ./run, and name it: "
            "CORRO_PROGRAM=build/run/apps/corro/corro"
        )
    return found


class Venue:
    """A running venue. Made by `serve`; a context manager that stops it."""

    def __init__(self, program: str, configuration: dict[str, Any], folder: Path, timeout: float) -> None:
        self._program = program
        self._configuration = configuration
        self._folder = folder
        # A venue that is forgotten ends with its object, or with Python. Only in the process that started it.
        self._owner = os.getpid()
        self._left = weakref.finalize(self, _remove, self._owner, folder, running := _Running())
        self._running = running
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._lines: list[str] = []
        self._addresses: dict[str, Address] = {}
        self._ready = threading.Event()
        self.accounts: dict[str, Account] = {
            each["name"]: Account(each["name"], each["id"], each["key"], each.get("sessions", 1))
            for each in configuration.get("account", [])
        }
        """By name."""

    @property
    def folder(self) -> Path:
        """The folder with its configuration and journal. It stays after `stop`, for `start`; the end of ``with``, and the end
        of this object, remove it.
        """
        return self._folder

    @property
    def config(self) -> Path:
        """Its configuration file."""
        return self._folder / "venue.toml"

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return "".join(self._lines)

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def order_entry(self) -> Address:
        """Host and port of order entry by Corro Binary."""
        return self.address("order entry")

    @property
    def feed(self) -> Address:
        """Host and port of the feed."""
        return self.address("feed")

    @property
    def snapshots(self) -> Address:
        """Host and port of the snapshots."""
        return self.address("snapshots")

    def address(self, name: str) -> Address:
        """Host and port, by the name that the program prints: ``"order entry"``, ``"FIX"``, ``"API"`` and so on."""
        if name not in self._addresses:
            known = ", ".join(f'"{each}"' for each in self._addresses)
            raise KeyError(f'the venue has no "{name}"; it has {known}')
        return self._addresses[name]

    def journal(self) -> Journal:
        """Its journal, if it keeps one (``serve(journal=True)``)."""
        if not self._configuration.get("facility", {}).get("journal"):
            raise ValueError("this venue keeps no journal; start it with serve(journal=True)")
        return journal(self.config)

    def start(self) -> None:
        """Starts the process again after `kill` or `stop`: on the same ports, and with the journal if it keeps one."""
        if not self._left.alive:
            raise RuntimeError("the end of `with` has removed the venue's folder; corro.serve starts another venue")
        if self.is_running:
            raise RuntimeError("the venue runs already")
        self._keep_ports()
        self.config.touch(mode=0o600)
        self.config.write_text(to_toml(self._configuration), encoding="utf-8")
        self._ready.clear()
        self._lines.clear()
        self._process = subprocess.Popen(
            [self._program, "serve", "--config", str(self.config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._running.process = self._process
        lines, addresses, ready = self._lines, self._addresses, self._ready
        self._reader = threading.Thread(target=_read, args=(self._process, lines, addresses, ready), daemon=True)
        self._reader.start()
        end = time.monotonic() + self._timeout
        try:
            while not self._ready.wait(0.02):
                if self._process.poll() is not None:
                    self._reader.join()
                    raise RuntimeError(f"the venue did not start:\n{self.log}")
                if time.monotonic() > end:
                    raise TimeoutError(f"the venue did not start within {self._timeout:g} s:\n{self.log}")
        except BaseException:  # Ctrl-C too
            self.kill()
            raise

    def kill(self) -> None:
        """Kills the process at once, as a crash would."""
        if self._process is not None and os.getpid() == self._owner:
            self._process.kill()
            self._end()

    def stop(self) -> None:
        """Shuts the venue down in order. In a process that was forked from its own one it does nothing."""
        if self._process is None or os.getpid() != self._owner:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._end()

    def __enter__(self) -> Venue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._left()

    def __repr__(self) -> str:
        where = "stopped" if not self.is_running else ", ".join(f"{n} {h}:{p}" for n, (h, p) in self._addresses.items())
        return f"Venue({self._configuration.get('venue', {}).get('name', '')!r}, {where})"

    def _end(self) -> None:
        assert self._process is not None and self._reader is not None
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _keep_ports(self) -> None:
        """After the first start its ports are known; a restart takes the same."""
        for name, (table, key) in {
            "order entry": ("order_entry", "listen"),
            "feed": ("market_data", "feed_listen"),
            "snapshots": ("market_data", "snapshot_listen"),
            "FIX": ("fix", "listen"),
            "FIX data": ("fix", "market_data_listen"),
            "API": ("api", "listen"),
        }.items():
            if name in self._addresses:
                host, port = self._addresses[name]
                self._configuration[table][key] = f"{host}:{port}"


class _Running:
    """The process of a venue, if there is one."""

    process: subprocess.Popen[str] | None = None


def _remove(owner: int, folder: Path, running: _Running) -> None:
    """Ends what a venue has left. A process that was forked from the owner has none of it."""
    if os.getpid() != owner:
        return
    if running.process is not None and running.process.poll() is None:
        running.process.kill()
        running.process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _read(process: subprocess.Popen[str], lines: list[str], addresses: dict[str, Address], ready: threading.Event) -> None:
    """Reads what a venue prints, without holding its object."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        listed = _LISTED.match(line.rstrip())
        if listed:
            name, host, port = (each for each in listed.groups() if each is not None)
            addresses[name] = (host, int(port))
        if _READY in line:
            ready.set()


def serve(
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    journal: bool = False,
    program: str | os.PathLike[str] | None = None,
    timeout: float = 30.0,
) -> Venue:
    """Starts a venue on free ports of this machine.

    Parameters
    ----------
    config
        A configuration file, or its content as a dictionary; `default_configuration` if left out. Each port that it
        names is replaced by a free one of 127.0.0.1.
    journal
        Whether it keeps a journal, in `Venue.folder`. So it survives `Venue.kill`. A journal that the configuration names is
        never used.
    program
        The program; ``$CORRO_PROGRAM``, the package's own, or ``corro`` on the path if left out.
    timeout
        Seconds that a start and a stop may take.

    Examples
    --------
    >>> with corro.serve() as venue:
    ...     alice = await corro.Client.connect(venue, "alice")
    """
    if config is None:
        tables = default_configuration()
    elif isinstance(config, Mapping):
        tables = {key: _copied(value) for key, value in config.items()}
    else:
        place = Path(os.fspath(config))
        if not place.is_file():
            raise FileNotFoundError(f"{place}: no such file; give a configuration, or leave it out")
        tables = tomllib.loads(place.read_text(encoding="utf-8"))
    if "partition" in tables:
        raise ValueError("serve starts venues without partitions; leave out [[partition]]")
    folder = Path(tempfile.mkdtemp(prefix="corro-"))
    for table, keys in _LISTENERS.items():
        for key in keys:
            if isinstance(tables.get(table), Mapping) and key in tables[table]:
                tables[table][key] = "127.0.0.1:0"
    facility = tables.setdefault("facility", {})
    facility.pop("journal", None)
    if journal:
        facility["journal"] = str(folder / "journal")
    else:
        facility.pop("durability", None)
    if not facility:
        del tables["facility"]
    try:
        venue = Venue(_program(program), tables, folder, timeout)
        venue.start()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return venue


def _program(name: str | os.PathLike[str] | None) -> str:
    return program(name)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value
