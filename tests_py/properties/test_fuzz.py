"""Random and malformed input at the C++ border: an answer or a CoschedError, never a crash.

`make test` runs it for twenty seconds from a fixed seed, `make fuzz` for ten minutes from a
new one. The work is in a process of its own: a crash is a failed test, not a dead runner.
"""

import os
import subprocess
import sys
from pathlib import Path

FUZZER = Path(__file__).with_name("fuzz_border.py")


def test_fuzz_the_border():
    wanted = os.environ.get("COSCHED_FUZZ_SECONDS")
    seed = int.from_bytes(os.urandom(4), "big") if wanted else 20131
    seconds = float(wanted or 20)
    done = subprocess.run(
        [sys.executable, "-W", "error", FUZZER, str(seed), str(seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}\n{done.stderr[-3000:]}"
    rounds, refused = map(int, done.stdout.split())
    assert rounds > 100
    assert 0 < refused < rounds
