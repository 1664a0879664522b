"""The slurm.conf and gres.conf of a Slurm whose nodes are all on this host."""

import getpass
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cosched import io
from cosched.cluster.machine.node_types import hosts
from cosched.errors import InvalidInstance, SolverError, shorten
from cosched.slurm.conf.lines import Line, parse_lines

_PORTS = range(11_000, 30_000, 100)
#: Characters of a Unix socket's path; a step's is in the spool folder, named node_job.step.
_SOCKET, _STEP = 107, "_4294967295.4294967295"
_FILE = Path(__file__).with_name("base.toml")
_CONF_TABLE: dict[str, dict[str, Any]] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
_BASE, _TIMEOUTS = _CONF_TABLE["base"], _CONF_TABLE["timeouts"]
#: Plugins that since 24.11 are none by their absence.
_REMOVED_SINCE_24 = ("TaskPlugin", "JobAcctGatherType", "SwitchType", "AccountingStorageType")


def plain_nodes(nodes: int, cpus: int) -> tuple[str, ...]:
    """Return a NodeName line of n1, n2, ..."""
    return (f"NodeName=n[1-{nodes}] CPUs={cpus} RealMemory=1000",)


def node_names(lines: Sequence[str]) -> list[str]:
    """Return the names of all NodeName lines, in their order."""
    return [name for line in _parsed(lines) for name in hosts(line.keys["nodename"], line.place)]


def _parsed(lines: Sequence[str]) -> list[Line]:
    return parse_lines("\n".join(lines), "NodeName lines")


class Configuration:
    """Texts of a Slurm of these nodes in a folder, given as to :class:`RealSlurm`."""

    def __init__(
        self,
        folder: Path,
        nodes: Sequence[str],
        settings: Mapping[str, str],
        partitions: Sequence[str],
    ) -> None:
        self.folder, self.partitions = folder, tuple(partitions)
        self.names = node_names(nodes)
        self._settings = dict(settings)
        self._nodes = _parsed(nodes)
        #: Of the controller; the nodes' follow it, and the last is free for a slurmdbd.
        self.port = _free_ports(len(self.names) + 2)

    @property
    def spool_elsewhere(self) -> Path | None:
        """Where spool folders are to be, if sockets of steps had too long a name in this folder."""
        longest = max((f"{self.folder}/spool-{name}/{name}{_STEP}" for name in self.names), key=len)
        return None if len(os.fsencode(longest)) <= _SOCKET else Path("/tmp")

    @property
    def last_port(self) -> int:
        """One that no daemon of Slurm's nodes has."""
        return self.port + len(self.names) + 1

    def slurm(
        self,
        speed: float,
        further_keys: Mapping[str, str],
        since_24: bool,
        spool: Path | None = None,
    ) -> str:
        """slurm.conf; `more`: keys between the usual ones and the user's own."""
        host, me, where = socket.gethostname().split(".")[0], getpass.getuser(), self.folder
        usual = {
            key: value
            for key, value in _BASE.items()
            if not (since_24 and key in _REMOVED_SINCE_24)
        }
        if speed != 1:
            usual |= {key: f"{seconds * speed:.0f}" for key, seconds in _TIMEOUTS.items()}
        daemon_keys = {
            "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmctldPort": str(self.port),
            "SlurmUser": me,
            "SlurmdUser": me,
            "StateSaveLocation": f"{where}/state",
            "SlurmdSpoolDir": f"{spool or where}/spool-%n",
            "SlurmctldPidFile": f"{where}/slurmctld.pid",
            "SlurmdPidFile": f"{where}/slurmd-%n.pid",
            "SlurmctldLogFile": f"{where}/slurmctld.log",
            "SlurmdLogFile": f"{where}/slurmd-%n.log",
            "SlurmSchedLogFile": f"{where}/scheduler.log",
            "SlurmSchedLogLevel": "5",
        }
        keys = {**usual, **further_keys, **self._settings, **daemon_keys}
        kinds = sorted({name for name, *_ in self._gres()})
        if kinds:
            keys.setdefault("GresTypes", ",".join(kinds))
        lines = [f"{key}={value}" for key, value in keys.items()]
        return "\n".join((*lines, *self._node_lines(host), *self.partitions)) + "\n"

    def _node_lines(self, host: str) -> Iterator[str]:
        first = self.port + 1
        for line in self._nodes:
            node_keys = dict(line.keys)
            count = len(hosts(node_keys["nodename"], line.place))
            if not {"sockets", "boards", "corespersocket", "threadspercore"} & set(node_keys):
                cpus = node_keys.setdefault("cpus", "1")
                node_keys |= {"sockets": "1", "corespersocket": cpus, "threadspercore": "1"}
            node_keys.setdefault("state", "UNKNOWN")
            ports = f"[{first}-{first + count - 1}]" if count > 1 else str(first)
            node_keys |= {"nodehostname": host, "nodeaddr": "127.0.0.1", "port": ports}
            first += count
            yield " ".join(f"{key}={value}" for key, value in node_keys.items())

    def _gres(self) -> Iterator[tuple[str, str, int, str]]:
        """Yield (name, type, count, nodes) of each kind of what nodes have."""
        for line in self._nodes:
            for part in filter(None, line.keys.get("gres", "").split(",")):
                match = re.fullmatch(r"(\w+)(?::([A-Za-z]\w*))?(?::(\d+))?", part)
                if not match:
                    raise InvalidInstance(f"Gres={shorten(part)}: expected gpu:2 or gpu:a100:2")
                yield match[1], match[2] or "", int(match[3] or 1), line.keys["nodename"]

    def gres(self) -> str:
        """gres.conf; a GPU is a plain file, since 24.11 counts none without."""
        (self.folder / "devices").mkdir(exist_ok=True)
        text, next_gpu = [], dict[tuple[str, str], int]()
        for name, kind, count, nodes in self._gres():
            words = [f"NodeName={nodes} Name={name}", *([f"Type={kind}"] if kind else ())]
            if name == "gpu":
                first = next_gpu.get((nodes, name), 0)
                next_gpu[nodes, name] = first + count
                files = [self.folder / "devices" / f"gpu{k}" for k in range(first, first + count)]
                for file in files:
                    file.touch()
                span = f"[{first}-{first + count - 1}]" if count > 1 else str(first)
                words.append(f"File={self.folder}/devices/gpu{span}")
            else:
                words.append(f"Count={count}")
            text.append(" ".join(words))
        return "".join(f"{line}\n" for line in text)


def _free_ports(count: int) -> int:
    """Return the first of some neighbouring ports below the ephemeral range that nobody listens
    on."""
    begin = os.getpid() % len(_PORTS)
    for first in (*_PORTS[begin:], *_PORTS[:begin]):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(listener := socket.socket())
                listener.bind(("127.0.0.1", port))
            return int(first)
        except OSError:
            continue
        finally:
            for listener in sockets:
                listener.close()
    raise SolverError(f"no {count} neighbouring ports are free below {_PORTS.stop}")
