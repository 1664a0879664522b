"""A slurmdbd of one's own, and the database below it: both in one folder, on 127.0.0.1 alone."""

import getpass
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cosched.errors import InvalidInstance, SolverError, shorten
from cosched.slurm.accounts.script_commands import read_script
from cosched.slurm.accounts.shell_words import join_continued_lines

_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_PACKAGES = "slurmdbd slurm-wlm-mysql-plugin mariadb-server-core mariadb-client-core"
_PROGRAMS = ("mariadbd", "mariadb-install-db", "slurmdbd", "sacctmgr")
_LONGEST_SOCKET = 100


def missing_packages() -> str:
    """Return what to install for a slurmdbd here; empty: nothing."""
    lacks = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    return f"no {lacks[0]} on this host: apt install {_PACKAGES}" if lacks else ""


class Database:
    """A running slurmdbd in a folder.

    Its database is on life's clock: only slurmdbd asks it, and its own waits are none of Slurm's.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        environment: dict[str, str],
        further_keys: Mapping[str, str] | None = None,
    ) -> None:
        if lacks := missing_packages():
            raise SolverError(lacks)
        self.folder, self.port = folder, port
        self.settings = {
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": "127.0.0.1",
            "AccountingStoragePort": str(port),
            "AccountingStorageEnforce": "limits,qos",
        }
        self._socket = folder / "db.sock"
        if len(str(self._socket)) > _LONGEST_SOCKET:
            raise SolverError(f"the path of the database's socket is too long: {self._socket}")
        folder.mkdir()
        self._daemons: list[subprocess.Popen[Any]] = []
        self._environment = environment
        self._further_keys = dict(further_keys or {})

    def start(self, conf: Path, until: Callable[..., None]) -> None:
        """The database, then slurmdbd beside a slurm.conf."""
        life = {
            key: value
            for key, value in self._environment.items()
            if key != "LD_PRELOAD" and not key.startswith("FAKETIME")
        }
        data, me = self.folder / "data", getpass.getuser()
        process = subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--datadir={data}",
                f"--user={me}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            env=life,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            raise SolverError(f"mariadb-install-db failed: {shorten(process.stderr[-300:])}")
        self._daemon(
            "mariadbd",
            "--no-defaults",
            f"--datadir={data}",
            f"--tmpdir={self.folder}",
            f"--socket={self._socket}",
            f"--user={me}",
            "--skip-networking",
            "--skip-grant-tables",
            "--skip-log-bin",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-lock-wait-timeout=900",
            "--innodb-buffer-pool-size=128M",
            "--performance-schema=off",
            environment=life,
        )
        until(self._socket.exists, "its database listens", 60)
        text = {
            "AuthType": "auth/none",
            "DbdHost": "localhost",
            "DbdAddr": "127.0.0.1",
            "DbdPort": self.port,
            "SlurmUser": me,
            "LogFile": self.folder / "slurmdbd.log",
            "PidFile": self.folder / "slurmdbd.pid",
            "StorageType": "accounting_storage/mysql",
            "StorageHost": "localhost",
            "StorageUser": me,
            "StorageLoc": "slurm_acct_db",
            "CommitDelay": 1,
            **self._further_keys,
        }
        conf_file = self.folder / "slurmdbd.conf"  # beside the slurm.conf that SLURM_CONF names
        conf_file.write_text("".join(f"{key}={value}\n" for key, value in text.items()))
        conf_file.chmod(0o600)
        (self.folder / "slurm.conf").symlink_to(conf)
        self._daemon(
            "slurmdbd",
            "-D",
            environment={
                **self._environment,
                "SLURM_CONF": str(self.folder / "slurm.conf"),
                "MYSQL_UNIX_PORT": str(self._socket),
            },
        )

    def _daemon(self, *command: str, environment: dict[str, str]) -> None:
        self._daemons.append(
            subprocess.Popen(
                [str(shutil.which(command[0], path=_PATH)), *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=self.folder,
                start_new_session=True,
            )
        )

    def ended(self) -> bool:
        """One of its daemons is not there any more."""
        return any(daemon.poll() is not None for daemon in self._daemons)

    def stop(self) -> None:
        """slurmdbd first."""
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons = []


def read_accounts(path: Path) -> tuple[str, ...]:
    """Commands of a script of sacctmgr, one a line, without comments and options of its own.

    Raises
    ------
    InvalidInstance
        A line that adds, modifies or deletes nothing, or that needs a shell.
    """
    commands: list[str] = []
    lines = [(f"{path}:{k}", line) for k, line in enumerate(path.read_text().splitlines(), 1)]
    for place, line in join_continued_lines(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        script = read_script([(place, line)])
        if script.notes or not script.commands:
            raise InvalidInstance(
                f"{place}: {shorten(line)}: expected lines of sacctmgr that begin with add, modify "
                "or delete"
            )
        commands += [
            shlex.join([command.verb, command.entity, *command.words])
            for command in script.commands
        ]
    if not commands:
        raise InvalidInstance(f"{path}: expected lines of sacctmgr: add account physics")
    return tuple(commands)


def rows_shown(text: str) -> list[dict[str, str]]:
    """Return what ``sacctmgr -P show`` prints, without empty cells."""
    header, *lines = text.splitlines()
    names = header.split("|")
    cells: list[dict[str, Any]] = [
        dict(zip(names, line.split("|"), strict=False)) for line in lines
    ]
    return [{key: value for key, value in row.items() if value} for row in cells]
