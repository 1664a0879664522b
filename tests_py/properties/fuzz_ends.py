"""Whether every search, bound, decoder and simulation ends on degenerate instances, every reader on
damaged files.

`fuzz_ends.py SEED [--count 20000] [--seconds S] [--family NAME ...]` runs calls in a child process
that dies, with a traceback, at one that takes longer than it may; then another child goes on behind
it. It prints a line for each such call, and at the end how many there were, how many were refused
and how many did not end, died, were late, or raised what is not a refusal. Families are those of
the package; `--readers` are what reads outputs of Slurm, accounts, logs and recordings.
"""

from __future__ import annotations

import argparse
import faulthandler
import re
import resource
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

#: Seconds of a call, on a machine that does other things beside it; all instances are tiny.
LONGEST = 60.0
#: Processor seconds that a call may take beyond its time limit.
BEYOND = 2.0
#: Those that reading and using a damaged file may take, and bytes that a child may have.
READING, MEMORY = 5.0, 6 * 2**30
BATCH = 500


def child(seed: int, first: int, last: int, families: list[str]) -> None:
    """Calls first..last, each from a seed of its own; the number of each is written before it."""
    from fuzz_degenerate import MAKE, one_call, rnd
    from fuzz_live import READERS, one_reading

    import cosched as cs

    warnings.simplefilter("ignore")
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    refused = 0
    for number in range(first, last):
        rnd.seed(seed * 1_000_003 + number)
        name = rnd.choice(families or sorted(MAKE))
        print(f"at {number} {name}", flush=True)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        begin, told = time.process_time(), name
        try:
            told, call = one_reading(name) if name in READERS else one_call(name)
            print(f"call {told}", flush=True)
            call()
        except (cs.InvalidInstance, cs.InfeasibleError, cs.TimeLimit):
            refused += 1
        except Exception as error:
            if name in READERS and isinstance(error, cs.CoschedError):
                refused += 1  # a log on which the simulation cannot go on
                continue
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            print(f"WRONG: seed {seed} at {number} {told}: {error!r} in {place}", flush=True)
        took = time.process_time() - begin
        limit = re.search(r"'time_limit': ([\d.]+)", told)
        if took > (float(limit[1]) + BEYOND if limit else READING if name in READERS else LONGEST):
            print(f"LATE: seed {seed} at {number} {told}: {took:.1f} s", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(f"refused {refused}", flush=True)


def batches(seed: int, count: int, end: float, families: list[str]) -> Iterator[tuple[int, ...]]:
    """Of each child: calls, refused ones, and what went wrong, which is told."""
    first = 0
    while first < count and time.monotonic() < end:
        last = min(first + BATCH, count)
        command = [sys.executable, __file__, str(seed), "--child", str(first), str(last)]
        done = subprocess.run(
            [*command, "--family", *families], capture_output=True, text=True, check=False,
            timeout=(last - first) * LONGEST,
        )  # fmt: skip
        said = done.stdout.splitlines()
        bad = [line for line in said if line.startswith(("WRONG", "LATE"))]
        for line in bad:
            print(line, flush=True)
        if done.returncode == 0:
            yield last - first, int(said[-1].split()[1]), len(bad)
        else:
            at = next(line for line in reversed(said) if line.startswith("at "))
            number = int(at.split()[1])
            print(f"DID NOT END: seed {seed} {at}; {said[-1]}\n{done.stderr[-2500:]}", flush=True)
            last = number + 1
            yield last - first, 0, len(bad) + 1
        first = last


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--family", nargs="*", default=[])
    parser.add_argument("--readers", action="store_true")
    parser.add_argument("--child", nargs=2, type=int)
    args = parser.parse_args()
    if args.readers:
        from fuzz_live import READERS

        args.family += READERS
    if args.child:
        child(args.seed, *args.child, args.family)
        return 0
    end = time.monotonic() + args.seconds
    calls = refused = wrong = 0
    for made, no, bad in batches(args.seed, args.count, end, args.family):
        calls, refused, wrong = calls + made, refused + no, wrong + bad
    print(f"{calls} calls, {refused} refused, {wrong} did not end, or ended wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
