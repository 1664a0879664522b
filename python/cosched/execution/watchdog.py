"""A process that outlives the driver: it ends the driver's tasks when the driver is gone.

Started as a program of its own, ``python -I -S watchdog.py RUN GRACE``, with a pipe from the
driver as its input. A byte in the pipe says that all is well; its end without one says that the
driver has died. Then every process that carries ``COSCHED_RUN=RUN`` in its environment is ended:
by SIGKILL, or by SIGTERM first where GRACE seconds are given. It imports nothing of cosched.
"""

import contextlib
import os
import signal
import sys
import time


def survivors(run: str) -> list[int]:
    """Processes of this user that belong to a run, by the environment they were started with."""
    mark = b"COSCHED_RUN=" + run.encode()
    survivors = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if mark in file.read().split(b"\0"):
                survivors.append(int(name))
    return survivors


def end_all(run: str, grace: float = 0.0, patience: float = 30.0) -> list[int]:
    """End every process of a run; returns those that were found. Waits until none is left."""
    seen: dict[int, None] = {}
    begin = time.monotonic()
    while (alive := survivors(run)) and time.monotonic() - begin < grace + patience:
        hard = time.monotonic() - begin >= grace
        for process in alive:
            if hard or process not in seen:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL if hard else signal.SIGTERM)
            seen[process] = None
        time.sleep(0.01)
    return list(seen)


def main() -> None:
    """Wait for the driver; see above."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if not os.read(0, 1):
        end_all(sys.argv[1], float(sys.argv[2]))


if __name__ == "__main__":
    main()
