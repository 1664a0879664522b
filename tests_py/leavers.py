"""What tests leave behind: each run has a temporary folder of its own, which has to be empty at the
end, and no process of it may be alive."""

import os
import shutil
import tempfile
import time
from multiprocessing.util import get_temp_dir
from pathlib import Path

import pytest

_ENDING = 10.0  # s for what is ending to end
_HELPERS = ("resource_tracker", "forkserver")  # modules of multiprocessing that run as processes


class Leavers:
    """A run of pytest, or one of its workers: its folder, and what it found there."""

    def __init__(self, config):
        self.worker = getattr(config, "workerinput", {}).get("workerid")
        # The folder of multiprocessing's sockets, which Python removes when this process ends. It
        # is made now, outside of the folder that has to be empty earlier than that.
        get_temp_dir()
        root = os.environ["TMPDIR"] if self.worker else None
        self.folder = Path(tempfile.mkdtemp(prefix=self.worker or "cosched-", dir=root))
        self.before = os.environ.get("TMPDIR")
        self.seen: dict[str, str] = {}
        self.left: list[str] = []
        self.failed = False
        os.environ["TMPDIR"] = str(self.folder)
        tempfile.tempdir = None

    def _found(self, folder):
        return [entry for entry in os.listdir(folder) if not entry.startswith(("pytest-of-", "gw"))]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid):
        for name in self._found(self.folder):
            self.seen.setdefault(name, nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.seen |= getattr(node, "workeroutput", {}).get("seen", {})

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.worker:  # what it removes when it ends is still there
            session.config.workeroutput["seen"] = self.seen
            return
        self.failed = bool(session.testsfailed)
        workers = alive(self.folder)
        for folder in (self.folder, *self.folder.glob("gw*")):
            leavings = ((name, self.seen.get(name, "the run")) for name in self._found(folder))
            self.left += [f"{name} in the temporary folder, since {who}" for name, who in leavings]
        self.left += workers
        if self.left and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for leaving in self.left:
            terminalreporter.write_line(f"left behind: {leaving}", red=True)
        if self.failed:
            terminalreporter.write_line(f"folders of tests that failed are kept in {self.folder}")

    def pytest_unconfigure(self):
        # Those of workers are looked at and removed with all of them.
        if not self.worker and not self.failed:  # else somebody will want to look at pytest's own
            shutil.rmtree(self.folder, ignore_errors=True)
        os.environ.pop("TMPDIR")
        if self.before is not None:
            os.environ["TMPDIR"] = self.before
        tempfile.tempdir = None


def alive(folder):
    """Processes whose temporary folder this is, but for this one, after a while."""
    end = time.monotonic() + _ENDING
    while (processes := _processes(folder)) and time.monotonic() < end:
        time.sleep(0.2)
    return [f"process {process}: {command}" for process, command in processes.items()]


def _processes(folder):
    wanted = f"TMPDIR={folder}".encode()
    commands = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        except OSError:
            continue
        is_of_session = any(
            variable == wanted or variable.startswith(wanted + b"/") for variable in variables
        )
        # The tracker and the fork server of multiprocessing end with the process that started them.
        is_helper = any(f"multiprocessing.{name} " in command for name in _HELPERS)
        if is_of_session and int(process.name) != os.getpid() and not is_helper:
            commands[int(process.name)] = command
    return commands
