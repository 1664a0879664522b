"""A real Slurm on this host for tests: one controller, several nodes, ports of its own.

It needs Debian's slurm-wlm and no rights, no systemd, no munge: authentication is none, and the
nodes are daemons of this user on ports of 127.0.0.1. All that belongs to it is in one folder.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

_PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel")
_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_CONF = """\
ClusterName=cosched
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=0
KillWait=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=5,batch_sched_delay=1
PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} \
Sockets=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
"""


class Cluster:
    """A running Slurm; :meth:`stop` ends all of it."""

    def __init__(self, folder: Path, nodes: int = 3, cpus: int = 2) -> None:
        missing = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
        if missing:
            pytest.skip(f"no {missing[0]}: slurm-wlm is not installed")
        self.folder = folder
        self.nodes = nodes
        port = _free_ports(nodes + 1)
        (folder / "state").mkdir(parents=True)
        self.conf = folder / "slurm.conf"
        self.conf.write_text(
            _CONF.format(
                host=socket.gethostname().split(".")[0],
                port=port,
                user=getpass.getuser(),
                folder=folder,
                nodes=nodes,
                first=port + 1,
                last=port + nodes,
                cpus=cpus,
            )
        )
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SLURM_")},
            "PATH": _PATH,
            "SLURM_CONF": str(self.conf),
        }
        self._daemons = [self._daemon("slurmctld", "-D", "-i", "-c", "-f", str(self.conf))]
        for number in range(1, nodes + 1):
            self._daemons.append(
                self._daemon("slurmd", "-D", "-N", f"n{number}", "-f", str(self.conf))
            )
        try:
            self.until(lambda: self._idle() == nodes, "the nodes are idle")
        except BaseException:
            self.stop()
            raise

    def _daemon(self, *command: str) -> subprocess.Popen:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(
            [str(shutil.which(command[0], path=_PATH)), *command[1:]],
            stdin=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.folder,
            start_new_session=True,
            **quiet,
        )

    def _idle(self) -> int:
        text = self.run("sinfo", "-h", "-N", "-o", "%N %t", check=False)
        return len({line for line in text.splitlines() if line.endswith(" idle")})

    def run(self, *command: str, check: bool = True, cwd: Path | None = None) -> str:
        """What a client of Slurm prints."""
        done = subprocess.run(
            command, env=self.environment, cwd=cwd, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def submit(self, script: Path, *options: str) -> str:
        """The number of a job; its output is beside the script, ``.log``."""
        said = self.run(
            "sbatch",
            "--parsable",
            f"--output={script.with_suffix('.log')}",
            *options,
            str(script),
            cwd=script.parent,
        )
        return said.strip()

    def state(self, job: str) -> tuple[str, str]:
        """(state, exit code) of a job."""
        text = self.run("scontrol", "--oneliner", "show", "job", job)
        found = dict(part.split("=", 1) for part in text.split() if "=" in part)
        return found["JobState"], found["ExitCode"]

    def ended(self, job: str) -> tuple[str, str]:
        """The same when the job is over."""
        over = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
        self.until(lambda: self.state(job)[0] in over, f"job {job} ends", 120)
        return self.state(job)

    def until(self, what: Callable[[], object], name: str, seconds: float = 60) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not what():
            if time.monotonic() > deadline:
                log = (self.folder / "slurmctld.log").read_text()[-3000:]
                raise AssertionError(f"not after {seconds} s: {name}\n{log}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End jobs and daemons."""
        self.run("scancel", "--user", getpass.getuser(), check=False)
        deadline = time.monotonic() + 10
        while self.run("squeue", "-h", check=False).strip() and time.monotonic() < deadline:
            time.sleep(0.2)
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self._daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _free_ports(count: int) -> int:
    """The first of some neighbouring ports below the ephemeral range that nobody listens on."""
    start = 11_000 + os.getpid() % 180 * 100
    for first in (*range(start, 30_000, 100), *range(11_000, start, 100)):
        sockets = []
        try:
            for port in range(first, first + count):
                one = socket.socket()
                sockets.append(one)
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise AssertionError("no free ports")
