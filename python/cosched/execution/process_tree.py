"""What the processes of a tree use, seen from outside; also a program around a command on a node.

Started as a program of its own, ``python -I -S process_tree.py NOTES HOW COMMAND...``, it runs the
command as it would run without it (signals, exit code, open files), and writes what that used to
``NOTES.RANK`` when it has ended: steps of Slurm run where the driver sees nothing of them, with or
without accounting. HOW is ``look`` (memory and waiting too) or ``wait``. It imports nothing of
cosched.
"""

import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterable

#: Seconds between two looks: the first ones follow each other fast, for short runs.
_FIRST, _USUAL = 0.01, 0.1
#: Looking at processes, and at what they hold together, may each cost this share of a core.
_COST = 0.025
#: Where launchers tell a process its rank; the batch script's own SLURM_PROCID is seen by mpirun's.
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
#: What Slurm and users send to a whole step: for the command alone.
_PASSED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU")
#: Exit codes of shells, where a command cannot be started.
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
#: Runs the command without this program where a node does not have it.
_OR_ELSE = 'if [ -x "$0" ] && [ -r "$1" ]; then exec "$0" -I -S "$@"; fi; shift 3; exec "$@"'


class ProcessTree:
    """The processes of one run, looked at while it runs."""

    def __init__(self) -> None:
        self.alive: set[int] = set()
        self.pss = self.largest = 0.0  # bytes: of all together, of one process
        self._shares: dict[tuple[int, int], tuple[float, float]] = {}  # thread -> ran, waited (s)
        self._pause = _FIRST
        self._next_hold = 0.0
        self.load = os.getloadavg()[0]

    @property
    def cpu_seconds(self) -> float:
        """Seconds that threads had a processor, when they were last seen."""
        return sum(seconds for seconds, _ in self._shares.values())

    @property
    def waited(self) -> float:
        """Seconds that threads waited for one."""
        return sum(waited for _, waited in self._shares.values())

    def begin(self, process: int) -> None:
        self.alive = {process}

    def look(self) -> float:
        """One look; seconds until the next."""
        begin = time.thread_time()  # under load a look takes long, and costs no more
        self.alive = self.processes()
        for process in self.alive:
            self._waits(process)
            self.largest = max(self.largest, bytes_of_line(_of(process, "status"), "VmHWM"))
        looked = time.thread_time()
        # The kernel walks all pages for it: of large processes more seldom than it tells VmHWM.
        if time.monotonic() >= self._next_hold:
            self.hold()
            self._next_hold = time.monotonic() + (time.thread_time() - looked) / _COST
        self._pause = min(2 * self._pause, _USUAL)
        return max(self._pause, (looked - begin) / _COST)

    def hold(self) -> None:
        """Look at the memory of all together."""
        memory = self._proportional_memory()
        if memory > self.pss:  # a fork between two readings shares pages that were counted whole
            self.pss = max(self.pss, min(memory, self._proportional_memory()))

    def _proportional_memory(self) -> float:
        """Return bytes of all processes together; shared pages count once."""
        return sum(bytes_of_line(_of(process, "smaps_rollup"), "Pss") for process in self.alive)

    def processes(self, more: Iterable[int] = ()) -> set[int]:
        """The processes of the last look and `more` ones, with all that they started."""
        todo, descendants = [*self.alive, *more], set()
        while todo:
            process = todo.pop()
            if process not in descendants and os.path.exists(f"/proc/{process}"):
                descendants.add(process)
                todo += _children(process)
        return descendants

    def _waits(self, process: int) -> None:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                fields = text_of(f"/proc/{process}/task/{thread}/schedstat").split()
                if len(fields) >= 2:
                    cpu_seconds, waited = (int(field) / 1e9 for field in fields[:2])
                    self._shares[process, int(thread)] = cpu_seconds, waited


def text_of(path: str | os.PathLike[str]) -> str:
    """A file of the kernel; empty where it is not there any more."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _of(process: int, name: str) -> str:
    return text_of(f"/proc/{process}/{name}")


def _children(process: int) -> Iterable[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            yield from map(int, _of(process, f"task/{thread}/children").split())


def bytes_of_line(text: str, key: str) -> float:
    """Bytes of a line ``key:  1234 kB``."""
    match = re.search(rf"^{key}:\s*(\d+) kB", text, re.MULTILINE)
    return 1024.0 * int(match[1]) if match else 0.0


# --- around a command ---------------------------------------------------------------------------


def wrapper(notes: str | os.PathLike[str], how: str) -> tuple[str, ...]:
    """What to put before a command, so that :func:`usage_written` finds what it used."""
    return ("/bin/sh", "-c", _OR_ELSE, sys.executable, __file__, os.path.abspath(notes), how)


def usage_written(notes: str | os.PathLike[str], ranks: int) -> dict[str, float] | None:
    """What the ranks of a command used together, and the load before; None: nobody wrote it.

    Their notes are opened by name, which a network file system answers at once, and removed.
    """
    usages = []
    for rank in range(ranks):
        path = f"{os.path.abspath(notes)}.{rank}"
        with contextlib.suppress(OSError, ValueError), open(path) as file:
            usages.append(json.load(file))
        with contextlib.suppress(OSError):
            os.remove(path)
    if not usages:
        return None
    sums = {key: sum(usage[key] for usage in usages) for key in usages[0]}
    return {**sums, "load": usages[0]["load"]}


def _run(command: list[str]) -> int:
    """Return the process of a command, in which everything is as it was for this one."""
    # SIGCHLD is waited for. Handlers end with this program's image; what was ignored stays so.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for name in _PASSED:
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    if child := os.fork():
        return child
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE)


def _end_as(status: int) -> None:
    """End this process as another ended."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def main() -> None:
    """Run a command, and write what it used; see above."""
    notes, how, *command = sys.argv[1:]
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
    tree, wrapper_peak = ProcessTree(), bytes_of_line(text_of("/proc/self/status"), "VmHWM")
    child = _run(command)
    tree.begin(child)
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        signal.sigtimedwait({signal.SIGCHLD}, tree.look() if how == "look" else 3600.0)
    usage = {
        "cpu_seconds": used.ru_utime + used.ru_stime,
        # What started a process counts as its first memory.
        "peak": 1024.0 * used.ru_maxrss if 1024.0 * used.ru_maxrss > wrapper_peak else 0.0,
        "pss": tree.pss,
        "largest": tree.largest,
        "ran": tree.cpu_seconds,
        "waited": tree.waited,
        "load": tree.load,
    }
    with contextlib.suppress(OSError), open(f"{notes}.{rank}", "w") as file:
        json.dump(usage, file)
    _end_as(status)


if __name__ == "__main__":
    main()
