"""A Slurm of one's own on this host: a controller, nodes, and a clock that may run faster.

Needs Debian's slurm-wlm, and faketime for another speed than 1; no rights, no systemd, no munge.
All of it is in one folder, listens on ports of 127.0.0.1, and ends with :meth:`RealSlurm.stop`.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from cosched.errors import InvalidInstance, SolverError

_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_MOST_NODES = 98
_PORTS = range(11_000, 30_000, 100)
_START_SECONDS = 90.0

#: What every such Slurm has; a configuration of the user's own replaces keys of it.
_BASE = {
    "ClusterName": "cosched", "AuthType": "auth/none", "CredType": "cred/none",
    "ProctrackType": "proctrack/pgid", "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none", "MpiDefault": "none", "SwitchType": "switch/none",
    "AccountingStorageType": "accounting_storage/none", "SlurmdParameters": "config_overrides",
    "ReturnToService": "2", "SlurmdTimeout": "0", "InactiveLimit": "0", "MinJobAge": "86400",
    "SchedulerType": "sched/backfill", "DebugFlags": "Backfill",
}  # fmt: skip


class RealSlurm:
    """A running Slurm of `nodes` nodes; a context that ends all of it.

    Parameters
    ----------
    folder : Path
        Empty or new; all files of it.
    nodes, cpus : int
        Nodes n1, n2, ..., and cores of each.
    settings : mapping of str to str
        Keys of slurm.conf.
    partitions : tuple of str
        Whole lines.
    node_lines : {"one", "each"}
        One NodeName line for all nodes, or one for each.
    speed : float
        Of its clock: so many times as fast as life.
    """

    def __init__(
        self,
        folder: Path,
        nodes: int,
        cpus: int,
        settings: Mapping[str, str],
        partitions: tuple[str, ...],
        node_lines: str = "one",
        speed: float = 1.0,
    ) -> None:
        if not 1 <= nodes <= _MOST_NODES:
            raise InvalidInstance(f"nodes = {nodes}: expected 1 to {_MOST_NODES} on one host")
        self.folder, self.nodes, self.speed = folder.resolve(), nodes, speed
        self._daemons: list[subprocess.Popen] = []
        self._clock: subprocess.Popen | None = None
        for name in ("slurmctld", "slurmd", "sbatch", "scontrol", "sinfo"):
            if shutil.which(name, path=_PATH) is None:
                raise SolverError(f"no {name} on this host: apt install slurm-wlm")
        (self.folder / "state").mkdir(parents=True)
        self.log = self.folder / "slurmctld.log"
        conf = self.folder / "slurm.conf"
        conf.write_text(self._conf(cpus, settings, partitions, node_lines))
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SLURM_")},
            "PATH": _PATH, "SLURM_CONF": str(conf), "TZ": "UTC",
        }  # fmt: skip
        try:
            if speed != 1:
                self._start_clock()
            self._daemon("slurmctld", "-D", "-i", "-c", "-f", str(conf))
            for number in range(1, nodes + 1):
                self._daemon("slurmd", "-D", "-N", f"n{number}", "-f", str(conf))
            self.until(lambda: self._idle() == nodes, "its nodes are idle", _START_SECONDS)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> RealSlurm:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _conf(
        self, cpus: int, settings: Mapping[str, str], partitions: tuple[str, ...], lines: str
    ) -> str:
        host, me, where = socket.gethostname().split(".")[0], getpass.getuser(), self.folder
        port = _free_ports(self.nodes + 1)
        keys = {
            **_BASE, "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": str(port),
            "SlurmUser": me, "SlurmdUser": me, "StateSaveLocation": f"{where}/state",
            "SlurmdSpoolDir": f"{where}/spool-%n", "SlurmctldPidFile": f"{where}/slurmctld.pid",
            "SlurmdPidFile": f"{where}/slurmd-%n.pid", "SlurmctldLogFile": str(self.log),
            "SlurmdLogFile": f"{where}/slurmd-%n.log", **settings,
        }  # fmt: skip
        what = (
            f"CPUs={cpus} Sockets=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=1000 "
            "State=UNKNOWN"
        )
        at = f"NodeHostname={host} NodeAddr=127.0.0.1"
        if lines == "each":
            found = [f"NodeName=n{k} {at} Port={port + k} {what}" for k in range(1, self.nodes + 1)]
        else:
            span = f"[{port + 1}-{port + self.nodes}]"
            found = [f"NodeName=n[1-{self.nodes}] {at} Port={span} {what}"]
        text = [f"{key}={value}" for key, value in keys.items()]
        return "\n".join((*text, *found, *partitions)) + "\n"

    def _start_clock(self) -> None:
        """A process that owns the clock which all others share."""
        library = next(
            (p for root in _LIBRARIES for p in sorted(Path(root).glob("**/libfaketimeMT.so.1"))),
            None,
        )
        if library is None:
            raise SolverError("a clock of another speed needs libfaketime: apt install faketime")
        own = {"LD_PRELOAD": str(library), "FAKETIME": f"+0 x{self.speed:g}"}
        self._clock = subprocess.Popen(
            ["bash", "-c", 'echo "$FAKETIME_SHARED"; read _'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            env={**self.environment, **own},
        )  # fmt: skip
        assert self._clock.stdout is not None
        shared = self._clock.stdout.readline().strip()
        self.environment.update(own, FAKETIME_SHARED=shared)

    def _daemon(self, *command: str) -> None:
        self._daemons.append(
            subprocess.Popen(
                [str(shutil.which(command[0], path=_PATH)), *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self.environment,
                cwd=self.folder,
                start_new_session=True,
            )
        )

    def _idle(self) -> int:
        text = self.run("sinfo", "-h", "-N", "-o", "%N %t", check=False)
        return len({line for line in text.splitlines() if line.endswith(" idle")})

    def run(self, *command: str, check: bool = True) -> str:
        """What a client of this Slurm prints."""
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise SolverError(f"{command[0]} failed: {done.stderr.strip()[-300:]}")
        return done.stdout

    def until(self, what: Callable[[], object], name: str, seconds: float) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not what():
            if any(daemon.poll() is not None for daemon in self._daemons):
                raise SolverError(f"a daemon of the Slurm ended; {self._last_words()}")
            if time.monotonic() > deadline:
                raise SolverError(f"not after {seconds:g} s: {name}; {self._last_words()}")
            time.sleep(0.2)

    def _last_words(self) -> str:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return lines[-1] if lines else "no log"

    def stop(self) -> None:
        """End jobs and daemons, and the clock last."""
        if self._daemons and self._daemons[0].poll() is None:
            self.run("scancel", "--user", getpass.getuser(), check=False)
            time.sleep(0.5)
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self._daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons = []
        if self._clock is not None:
            self._clock.communicate("\n")
            self._clock = None


def _free_ports(count: int) -> int:
    """The first of some neighbouring ports below the ephemeral range that nobody listens on."""
    begin = os.getpid() % len(_PORTS)
    for first in (*_PORTS[begin:], *_PORTS[:begin]):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(one := socket.socket())
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise SolverError(f"no {count} neighbouring ports are free below {_PORTS.stop}")
