"""The program that jobs of a recording run where a plain sleep would not do."""

import os
import shlex
import shutil
import sys
from pathlib import Path

#: Bytes of the file that jobs map, and of each read that brings it into the page cache.
_BLOCK_BYTES, _READ_BYTES = 2**28, 2**22
_SOURCE = """import mmap, os, sys, time

path, megabytes, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
file = os.open(path, os.O_RDONLY)
block = os.fstat(file).st_size
resident = int(open("/proc/self/statm").read().split()[1]) * mmap.PAGESIZE
missing = megabytes * 2**20 - resident
flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0x8000)
mappings = []
while missing > 0:
    mappings.append(mmap.mmap(file, min(missing, block), flags=flags, prot=mmap.PROT_READ))
    missing -= block
if sys.argv[4] == "once":
    time.sleep(seconds)
    sys.exit()
# The time of a sleep goes on while the job is suspended. So a nap that took much too long counts
# only half of it: the job was suspended in the middle of that nap.
last = time.time()
while seconds > 0:
    time.sleep(min(seconds, 0.5))
    now = time.time()
    seconds -= now - last if now - last < 2 else 0.25
    last = now
"""


class JobProgram:
    """A program that lasts some seconds, holds some memory and does no work while suspended.

    It maps one file again and again: each mapping counts in the resident set that Slurm measures,
    while the host has the pages of the file only once, whatever all jobs together hold.

    Parameters
    ----------
    folder : Path
        Where the program and its file are written; users of the jobs can read it.
    can_be_suspended : bool
        Whether Slurm may suspend jobs: their work then takes as long as they really run.
    """

    def __init__(self, folder: Path, *, can_be_suspended: bool) -> None:
        self._sleeps = "in naps" if can_be_suspended else "once"
        self._program = folder / "job_program.py"
        self._file = folder / "job_memory"
        self._program.write_text(_SOURCE)
        self._file.touch()
        os.truncate(self._file, _BLOCK_BYTES)
        with self._file.open("rb", buffering=0) as file:  # reads make large pages, writes do not
            while file.read(_READ_BYTES):
                pass

    def command(self, seconds: float, megabytes: int) -> str:
        """Return a shell command that lasts so many seconds and holds so many megabytes."""
        words = (_interpreter(), "-S", self._program, self._file, megabytes, seconds, self._sleeps)
        return shlex.join(map(str, words))


def _interpreter() -> str:
    """Return the Python of the system: users of jobs may not enter the folder of this one."""
    return shutil.which("python3", path="/usr/bin:/bin") or sys.executable
