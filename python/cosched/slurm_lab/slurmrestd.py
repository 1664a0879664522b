"""A slurmrestd of one's own beside a :class:`RealSlurm`, on 127.0.0.1 alone."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

from cosched.errors import SolverError
from cosched.slurm_lab.daemons import RealSlurm, end_all

_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_PACKAGES = "slurmrestd slurm-wlm-jwt-plugin"
_PLUGIN_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_START_SECONDS = 30.0


def missing_rest_packages() -> str:
    """Return what to install for a slurmrestd here; empty: nothing."""
    if shutil.which("slurmrestd", path=_PATH) is None:
        return f"no slurmrestd on this host: apt install {_PACKAGES}"
    if not any(True for root in _PLUGIN_FOLDERS for _ in Path(root).glob("**/auth_jwt.so")):
        return f"no auth/jwt plugin on this host: apt install {_PACKAGES}"
    return ""


def jwt_settings(key: Path) -> dict[str, str]:
    """Return the keys of slurm.conf and slurmdbd.conf that let tokens in, with a new secret key.

    Parameters
    ----------
    key : Path
        The file of the key, which only its owner may read.
    """
    key.write_bytes(secrets.token_bytes(32))
    key.chmod(0o600)
    return {"AuthAltTypes": "auth/jwt", "AuthAltParameters": f"jwt_key={key}"}


class LabRestServer:
    """A running slurmrestd; a context that ends it.

    Parameters
    ----------
    slurm : RealSlurm
        Made with :func:`jwt_settings`.
    plugins : str
        Which versions it offers, as ``openapi/v0.0.38,openapi/dbv0.0.38``; empty: all.
    """

    def __init__(self, slurm: RealSlurm, plugins: str = "") -> None:
        if lacks := missing_rest_packages():
            raise SolverError(lacks)
        self._slurm = slurm
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = slurm.folder / "slurmrestd.log"
        self._start(plugins)

    def _start(self, plugins: str) -> None:
        conf = self._slurm.environment["SLURM_CONF"]
        options = ["-s", plugins] if plugins else []
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                [
                    str(shutil.which("slurmrestd", path=_PATH)),
                    "-f",
                    conf,
                    *options,
                    "-a",
                    "rest_auth/jwt",
                    f"127.0.0.1:{self.port}",
                ],
                env={
                    **self._slurm.environment,
                    # The user of this Slurm's controller runs it, too.
                    "SLURMRESTD_SECURITY": "disable_user_check",
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                words = self.log.read_text(errors="replace").strip().splitlines()[-1:]
                self.stop()
                raise SolverError(f"slurmrestd does not start: {' '.join(words) or 'no log'}")
            time.sleep(0.1)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def token(self) -> str:
        """Return a new token of the user of this process, valid for an hour."""
        text = self._slurm.run("scontrol", "token", "lifespan=3600")
        return text.strip().removeprefix("SLURM_JWT=")

    def __enter__(self) -> LabRestServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server."""
        if self._process is not None:
            end_all([self._process])
            self._process = None


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
