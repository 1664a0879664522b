"""Whether every search, bound, decoder and simulation ends on degenerate instances, every reader on
damaged files.

`fuzz_ends.py SEED [--count 20000] [--seconds S] [--family NAME ...]` runs calls in a child process
that dies, with a traceback, at one that takes longer than it may; then another child goes on behind
it. It prints a line for each such call, and at the end, of each family, how many ended well, how
many were refused, and how many went wrong (did not end, died, or raised what is not a refusal) or
were late. Families are those of the package; `--readers` are what reads outputs of Slurm, accounts,
logs and recordings.
"""

from __future__ import annotations

import argparse
import faulthandler
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

#: Processor seconds of a call, and seconds on a machine that does other things beside it; all
#: instances are tiny.
LONGEST, WAITING = 60.0, 600.0
#: Processor seconds that a call may take beyond its time limit.
BEYOND = 2.0
#: Those that reading and using a damaged file may take, and bytes that a child may have.
READING, MEMORY = 10.0, 6 * 2**30
BATCH = 500
#: How a call may end.
ENDS = ("well", "refused", "wrong", "late")


def child(seed: int, first: int, last: int, families: list[str], until: float) -> None:
    """Calls first..last, or until then, each from a seed of its own; the number of each is written
    before it."""
    from fuzz_degenerate import MAKE, one_call, rnd
    from fuzz_live import READERS, one_reading

    import cosched as cs

    warnings.simplefilter("ignore")
    faulthandler.enable()
    faulthandler.register(signal.SIGVTALRM, chain=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in range(first, last):
        if time.monotonic() > until:
            break
        rnd.seed(seed * 1_000_003 + number)
        name = rnd.choice(families or sorted(MAKE))
        print(f"at {number} {name}", flush=True)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
        faulthandler.dump_traceback_later(WAITING, exit=True)
        begin, reading_name, end = time.process_time(), name, "well"
        try:
            reading_name, call = one_reading(name) if name in READERS else one_call(name)
            print(f"call {reading_name}", flush=True)
            call()
        except (cs.InvalidInstance, cs.InfeasibleError, cs.TimeLimit):
            end = "refused"
        except Exception as error:
            end = "wrong"
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            print(
                f"WRONG: seed {seed} at {number} {reading_name}: {error!r} in {place}", flush=True
            )
        took = time.process_time() - begin
        limit = re.search(r"'time_limit': ([\d.]+)", reading_name)
        if took > (float(limit[1]) + BEYOND if limit else READING if name in READERS else LONGEST):
            end = "late"
            print(f"LATE: seed {seed} at {number} {reading_name}: {took:.1f} s", flush=True)
        print(f"end {name} {end}", flush=True)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    faulthandler.cancel_dump_traceback_later()


def batches(seed: int, count: int, until: float, families: list[str]) -> Iterator[tuple[str, str]]:
    """Family and end of each call; what went wrong is told."""
    first = 0
    while first < count and time.monotonic() < until:
        last = min(first + BATCH, count)
        command = [sys.executable, __file__, str(seed), "--child", str(first), str(last),
                   "--until", str(until)]  # fmt: skip
        done = subprocess.run(
            [*command, "--family", *families], capture_output=True, text=True, check=False,
            timeout=(last - first) * WAITING,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith(("WRONG", "LATE")):
                print(line, flush=True)
            elif line.startswith("end "):
                _, name, end = line.split()
                yield name, end
        if done.returncode != 0:
            at = next(line for line in reversed(lines) if line.startswith("at "))
            _, number, name = at.split()
            print(f"DID NOT END: seed {seed} {at}; {lines[-1]}\n{done.stderr[-2500:]}", flush=True)
            yield name, "wrong"
            last = int(number) + 1
        first = last


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--family", nargs="*", default=[])
    parser.add_argument("--readers", action="store_true")
    parser.add_argument("--child", nargs=2, type=int)
    parser.add_argument("--until", type=float, help="of a child: when it ends, by this clock")
    args = parser.parse_args()
    if args.readers:
        from fuzz_live import READERS

        args.family += READERS
    if args.child:
        child(args.seed, *args.child, args.family, args.until)
        return 0
    until = time.monotonic() + args.seconds
    ends = Counter(batches(args.seed, args.count, until, args.family))
    for name in sorted({name for name, _ in ends}):
        print(f"{name}: " + ", ".join(f"{ends[name, end]} {end}" for end in ENDS))
    bad = sum(count for (_, end), count in ends.items() if end in ("wrong", "late"))
    print(f"{ends.total()} calls, {bad} wrong or late")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
