"""Helpers of the tests: real data, random instances, brute force."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import numpy as np
import pytest

#: Kinds of tables that :func:`tables` draws.
KINDS = ("monotone", "any", "super-linear", "infinite")
REPO = Path(__file__).resolve().parent.parent
FIXTURES = REPO / "tests_py" / "fixtures"
#: How the reason begins for which a test without its archive is left out.
WANTS = "wants the archive"
#: Recordings of real Slurms, by name; what they are of: fixtures/slurm/README.md.
RECORDINGS = {
    path.name.removesuffix(".json.gz"): path
    for path in sorted((FIXTURES / "slurm").glob("*.json.gz"))
}


def lacking(what: str) -> NoReturn:
    """A tool of the tests is not on this machine: the test is skipped, on CI it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


def program(name: str) -> str:
    """Where a program is; see :func:`lacking`."""
    return shutil.which(name) or lacking(f"{name} is not installed")


def library(name: str) -> ModuleType:
    """A module of the extras or of a tool; see :func:`lacking`."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        lacking(f"{name} is not installed: {error}")


def load_script(path: Path) -> ModuleType:
    """A Python file of the repository that is in no package."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look it up
    spec.loader.exec_module(module)
    return module


def data(*parts: str) -> Path:
    """A file or folder of the archives; a test marked ``data`` is left out without it."""
    from cosched.errors import StudyError
    from cosched.experiments import data_path

    try:
        return data_path(*parts)
    except StudyError:
        pytest.skip(f"{WANTS} {'/'.join(parts)}")


def unpacked(archive: Path, folder: Path) -> None:
    """All files of a tar archive, below a folder."""
    for name, text in members(archive):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def members(archive: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every file of a tar archive."""
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isfile():
                yield member.name, opened.extractfile(member).read().decode()


def random_times(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    """A monotone table with speed-ups between none and linear."""
    from cosched.packs import monotone

    shrink = random.uniform(0.4, 1.0, (n, p))
    shrink[:, 0] = random.uniform(1, 20, n)
    return monotone(np.cumprod(shrink, axis=1))


def tables(draw, n: int, p: int, *, kinds: Sequence[str] = KINDS) -> np.ndarray:
    """A table of times for hypothesis: monotone, any, super-linear, or with infinite times."""
    from hypothesis import strategies as st

    from cosched.packs import monotone

    # Small integers make ties, the place where deterministic rules go wrong.
    entry = st.one_of(st.integers(1, 6).map(float), st.floats(0.01, 100))
    rows = draw(st.lists(st.lists(entry, min_size=p, max_size=p), min_size=n, max_size=n))
    times = np.array(rows)
    kind = draw(st.sampled_from(kinds))
    if kind == "monotone":
        return monotone(times)
    if kind == "super-linear":
        return -np.sort(-times, axis=1) / np.arange(1, p + 1) ** draw(st.integers(1, 3))
    if kind == "infinite":
        possible = draw(st.lists(st.integers(0, p - 1), min_size=n, max_size=n))
        holes = draw(st.lists(st.booleans(), min_size=n * p, max_size=n * p))
        holed = np.array(holes).reshape(n, p)
        holed[np.arange(n), possible] = False
        times[holed] = np.inf
    return times


def partitions(items: Sequence[int], most_parts: int) -> Iterator[list[list[int]]]:
    """All partitions into blocks of at most `most` items."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(min(most_parts, len(items))):
        for others in itertools.combinations(rest, size):
            remaining = [item for item in rest if item not in others]
            for blocks in partitions(remaining, most_parts):
                yield [[first, *others], *blocks]


def pack_cost_by_brute_force(times: np.ndarray, pack: Sequence[int], p: int) -> float:
    """Least longest time of a pack: try every threshold (times need not be monotone)."""
    rows = times[list(pack), :p]
    for threshold in np.unique(rows):
        fits = rows <= threshold
        if fits.any(axis=1).all() and (fits.argmax(axis=1) + 1).sum() <= p:
            return float(threshold)
    return np.inf


def packs_optimum(times: np.ndarray, k: int) -> float:
    """Optimal cost of a co-schedule by enumerating partitions."""
    n, p = times.shape
    return min(
        sum(pack_cost_by_brute_force(times, pack, p) for pack in blocks)
        for blocks in partitions(range(n), min(k, n, p))
    )


def moldable_optima(times, weights, release=None) -> tuple[float, float]:
    """Least makespan and least sum w C of moldable jobs: every allotment in every order."""
    n, m = times.shape
    release = np.zeros(n) if release is None else release
    best = [np.inf, np.inf]

    def earliest(placed: list, ready: float, length: float, procs: int) -> float:
        for start in sorted({ready, *(end for _, end, _ in placed if end > ready)}):
            moments = [start, *(s for s, _, _ in placed if start < s < start + length)]
            if all(sum(q for s, e, q in placed if s <= t < e) + procs <= m for t in moments):
                return start
        raise AssertionError

    def extend(remaining_jobs: frozenset, placed: list, makespan: float, minsum: float) -> None:
        if makespan >= best[0] and minsum >= best[1]:
            return
        if not remaining_jobs:
            best[:] = min(best[0], makespan), min(best[1], minsum)
            return
        for job in remaining_jobs:
            for procs in range(1, m + 1):
                length = times[job, procs - 1]
                if length == np.inf:
                    continue
                end = earliest(placed, release[job], length, procs) + length
                extend(
                    remaining_jobs - {job},
                    [*placed, (end - length, end, procs)],
                    max(makespan, end),
                    minsum + weights[job] * end,
                )

    extend(frozenset(range(n)), [], 0.0, 0.0)
    return best[0], best[1]


# --- studies ---------------------------------------------------------------------------------


def same_results(folder: Path, expected: bytes) -> bool:
    """Whether results.parquet has exactly these bytes."""
    return (folder / "results.parquet").read_bytes() == expected


def with_toy_studies() -> dict[str, str]:
    """An environment in which other processes find the tests' studies."""
    places = [str(REPO / "tests_py"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}


def study_command(*arguments, preexec_fn=None, **environment):
    """A driver in a process group of its own, as a shell starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "cosched", "study", "run", *map(str, arguments)],
        env={**with_toy_studies(), **environment},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=preexec_fn,
    )


def rows_kept(out: Path) -> int:
    """How many rows the state of a study has on disk."""
    path = out / "state" / "rows.sqlite"
    if not path.exists():
        return 0
    # A run at work has a lock, which does not matter to one who only looks.
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
        try:
            return database.execute("SELECT COUNT(*) FROM rows").fetchone()[0]
        except sqlite3.DatabaseError:  # it is being written
            return 0


def wait_for_rows(out: Path, driver, least_rows: int = 1) -> None:
    """Until so many rows lie in the state folder."""
    for _ in range(3600):
        if rows_kept(out) >= least_rows:
            return
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.05)
    raise AssertionError("no rows came")


def small_bag(**changes):
    """Three task types on two machine types; keywords replace arguments of the instance."""
    from cosched.bags import Instance

    parts = {
        "counts": [40, 30, 7],
        "machines": [3, 2],
        "etc": [[10.0, 5.0], [8.0, 12.0], [30.0, 21.0]],
        "apc": [[90.0, 200.0], [80.0, 100.0], [70.0, 110.0]],
        "gamma": 1.4,
    }
    parts.update(changes)
    return Instance(**parts)


def plain_mcb8(
    tasks: Sequence[int], cpu: Sequence[float], memory: Sequence[float], nodes: int
) -> list[list[int]] | None:
    """MCB8 as one first writes it from Section 4.3: two sorted lists of tasks, scanned."""
    lists: tuple[list[int], list[int]] = ([], [])  # a job's number for each of its tasks
    for job, count in enumerate(tasks):
        lists[0 if cpu[job] > memory[job] else 1].extend([job] * count)
    for job_list in lists:
        job_list.sort(key=lambda job: -max(cpu[job], memory[job]))
    placed: list[list[int]] = [[] for _ in tasks]

    def first_that_fits(job_list: list[int], cpu_load: float, memory_load: float) -> int | None:
        for job in job_list:
            if cpu_load + cpu[job] <= 1 + 1e-12 and memory_load + memory[job] <= 1 + 1e-12:
                return job
        return None

    for node in range(nodes):
        cpu_load = memory_load = 0.0
        while True:
            for job_list in lists if cpu_load <= memory_load else lists[::-1]:
                job = first_that_fits(job_list, cpu_load, memory_load)
                if job is not None:
                    break
            else:
                break
            job_list.remove(job)
            placed[job].append(node)
            cpu_load += cpu[job]
            memory_load += memory[job]
    return None if lists[0] or lists[1] else placed


def plain_mcb8_search(
    tasks: Sequence[int], cpu: Sequence[float], memory: Sequence[float], nodes: int
) -> tuple[float, list[list[int]]] | None:
    """Yield 1, then 0, then bisection to 0.01, each time from the beginning."""

    def pack(share: float) -> list[list[int]] | None:
        return plain_mcb8(tasks, [share * need for need in cpu], memory, nodes)

    packing = pack(1)
    if packing is not None:
        return 1.0, packing
    best = pack(0)
    if best is None:
        return None
    low, high = 0.0, 1.0
    while high - low > 0.01:
        middle = (low + high) / 2
        packing = pack(middle)
        if packing is None:
            high = middle
        else:
            low, best = middle, packing
    return low, best


#: What a damaged file may have in its middle.
_PIECES = (
    b"\n", b"\t", b"-1", b"1e400", b"nan", b'"', b"\0", b"9" * 40, b":", b"{", b",", b" ", b"=",
    b"e9",
)  # fmt: skip


def damaged_bytes(content: bytes, source: random.Random) -> bytes:
    """The bytes of a file with a few places changed, cut out, doubled or put in, or with its end
    cut off; at least one byte."""
    data = bytearray(content)
    for _ in range(source.randint(1, 5)):
        place = source.randrange(len(data))
        kind = source.randrange(5)
        if kind == 0:
            data[place] = source.randrange(256)
        elif kind == 1:
            del data[place : place + source.randrange(1, 40)]
        elif kind == 2:
            data[place:place] = data[place : place + source.randrange(1, 60)]
        elif kind == 3:
            data[place:place] = source.choice(_PIECES)
        else:
            del data[place + 1 :]
        data = data or bytearray(b" ")
    return bytes(data)
