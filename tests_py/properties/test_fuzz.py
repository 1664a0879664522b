"""Random and malformed input at the C++ border: an answer or a CoschedError, never a crash.
Degenerate instances: every call ends. Damaged files of Slurm: read, or refused in a line.
The runner of an allocation under attack: no task is lost or runs twice.

`make test` runs them for some seconds from a fixed seed, `make fuzz` for ten minutes from a
new one. The work is in a process of its own: a crash is a failed test, not a dead runner.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).with_name("fuzz_border.py")
ARGUMENTS = Path(__file__).with_name("fuzz_arguments.py")
ENDS = Path(__file__).with_name("fuzz_ends.py")
RUNNER = Path(__file__).with_name("fuzz_runner.py")
#: Of the time, for hostile arguments of every public name, for instances on which a loop might not
#: end, and for damaged files.
SHARE = 0.2


def test_fuzz_the_border():
    wanted = os.environ.get("COSCHED_FUZZ_SECONDS")
    seed = int.from_bytes(os.urandom(4), "big") if wanted else 20131
    seconds = float(wanted or 5) * (1 - 3 * SHARE if wanted else 1)
    done = subprocess.run(
        [sys.executable, "-W", "error", FUZZER, str(seed), str(seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}\n{done.stderr[-3000:]}"
    rounds, refused = map(int, done.stdout.split())
    assert rounds > 20
    assert 0 < refused < rounds


def test_fuzz_the_arguments():
    """Each public name, with one hostile argument: an error names it."""
    wanted = os.environ.get("COSCHED_FUZZ_SECONDS")
    seed = int.from_bytes(os.urandom(4), "big") if wanted else 20131
    seconds = float(wanted) * SHARE if wanted else 5.0
    done = subprocess.run(
        [sys.executable, ARGUMENTS, str(seed), str(seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}\n{done.stderr[-3000:]}"
    calls, refused = map(int, done.stdout.split())
    assert calls > 20
    assert 0 < refused < calls


@pytest.mark.parametrize(("what", "calls"), [([], 300), (["--readers"], 100)], ids=["", "readers"])
def test_fuzz_ends(what, calls):
    """`COSCHED_FUZZ_CALLS=20000` for so many calls, whatever they take."""
    wanted, fuzz_calls = (
        os.environ.get("COSCHED_FUZZ_SECONDS"),
        os.environ.get("COSCHED_FUZZ_CALLS"),
    )
    seed = int.from_bytes(os.urandom(2), "big") if wanted or fuzz_calls else 42
    count = fuzz_calls or ("1000000000" if wanted else str(calls))
    command = [sys.executable, ENDS, str(seed), "--count", count, *what]
    if wanted and not fuzz_calls:
        command += ["--seconds", str(float(wanted) * SHARE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    call_count = int(re.findall(r"(\d+) calls, 0 wrong", done.stdout)[0])
    refused = sum(map(int, re.findall(r"(\d+) refused", done.stdout)))
    assert 0 < refused < call_count * (0.9 if what else 0.5)


def test_fuzz_the_runner_of_an_allocation():
    """`fuzz_runner.py` says what is attacked, and how."""
    wanted = os.environ.get("COSCHED_FUZZ_SECONDS")
    seed = int.from_bytes(os.urandom(2), "big") if wanted else 42
    count = "40" if wanted else "3"
    command = [sys.executable, RUNNER, str(seed), "--count", count]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert f"{count} allocations: {count} well" in done.stdout
