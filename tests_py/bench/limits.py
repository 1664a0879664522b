"""How long everything goes on after its time limit, and after Ctrl-C.

Every algorithm and bound of the five families, and the checks of schedules, on instances that are
large for it, each in a process of its own. `limit` is the algorithm's own ``time_limit=``; `around`
a limit that the caller has set for all that happens inside; `SIGINT` what Ctrl-C sends. The seconds
are those from the limit (or the signal) until the call came back, 0 where it was done before.

    python tests_py/bench/limits.py                    # all, a quarter of an hour
    python tests_py/bench/limits.py packs bags/ttb     # a family, or names that begin like this
    python tests_py/bench/limits.py --limit 5 --check  # exit code 1 where something is late
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

import cosched as cs
from cosched import _core

PATIENCE = 120.0  # seconds after which a process is killed
MODES = ("limit", "around", "SIGINT")


def _packs(n: int, p: int, k: int) -> Any:
    alone = np.random.default_rng(1).uniform(1, 1000, n)
    share = np.random.default_rng(2).uniform(0, 0.3, (n, 1))
    times = alone[:, None] * (share + (1 - share) / np.arange(1, p + 1))
    return cs.packs.Instance(times, max_tasks=k)


def _layered() -> Any:
    return cs.workloads.layered(40_000, density=0.24, units=(16, 4), seed=1)


def _moldable(kind: str, n: int, m: int) -> Callable[[], Any]:
    return lambda: cs.workloads.moldable(kind, n, m, seed=1)


def _jobs() -> Any:
    jobs = cs.workloads.lublin(20_000, 128, seed=1)
    return cs.cluster.Instance(cs.workloads.rescale_load(jobs, 128, 0.95), 128)


def _bag(types: int, machines: int, tasks: int) -> Any:
    random = np.random.default_rng(1)
    etc = random.uniform(10, 1000, (types, machines))
    apc = random.uniform(50, 200, (types, machines))
    counts = random.integers(1, 2 * tasks // types, types)
    return cs.bags.Instance(counts, np.full(machines, 40), etc, apc, gamma=1.3)


#: The instance of each family, and those of names that need another one to be slow.
INSTANCES: dict[str, Callable[[], Any]] = {
    "packs": lambda: _packs(10_000, 32, 8),
    "packs/pairs": lambda: _packs(4_000, 32, 2),
    "packs/ilp": lambda: _packs(12, 64, 4),
    "packs/pack-approx": lambda: _packs(10_000, 1_000, 8),
    "packs/pack-by-pack-9": lambda: _packs(100_000, 64, 8),
    "packs/random-proc-9": lambda: _packs(100_000, 64, 8),
    "packs/random-pack-9": lambda: _packs(100_000, 64, 8),
    "dags": _layered,
    "cluster": _jobs,
    "moldable": _moldable("mixed", 20_000, 2_000),
    "moldable/demt-best": _moldable("mixed", 2_000, 500),
    "bags": lambda: _bag(300, 60, 100_000),
}
#: Calls beside the algorithms and bounds: ``f(instance)``, made by ``make(instance)`` untimed.
EXTRA: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "packs/validate": (
        lambda instance: cs.packs.solve(instance, "sequential").schedule,
        lambda instance, schedule: schedule.validate(),
    ),
    "packs/one-pack-dp": (
        lambda instance: instance.times[:32],
        lambda instance, times: cs.packs.one_pack_dynamic_programme(
            np.repeat(times, 400, axis=1), 12_800
        ),
    ),
    "dags/validate": (
        lambda instance: cs.dags.heft(instance).schedule,
        lambda instance, schedule: schedule.validate(),
    ),
    "dags/hlp-glpk": (
        lambda instance: None,
        lambda instance, _: cs.dags.hlp(instance, method="glpk"),
    ),
    "dags/hlp-highs": (
        lambda instance: None,
        lambda instance, _: cs.dags.hlp(instance, method="highs"),
    ),
    "cluster/validate": (
        lambda instance: cs.cluster.solve(instance, "EASY").schedule,
        lambda instance, schedule: schedule.validate(),
    ),
    "moldable/validate": (
        lambda instance: cs.moldable.solve(instance, "list-shelf").schedule,
        lambda instance, schedule: schedule.validate(),
    ),
    "moldable/minsum-glpk": (
        lambda instance: None,
        lambda instance, _: cs.moldable.minsum_bound(instance, method="glpk"),
    ),
    "bags/validate": (
        lambda instance: cs.bags.min_energy(instance).schedule,
        lambda instance, schedule: schedule.validate(),
    ),
    "bags/relaxation-glpk": (
        lambda instance: 2 * cs.bags.least_makespan(instance),
        lambda instance, makespan: cs.bags.relaxation(instance, makespan, method="glpk"),
    ),
}


def cases(chosen: list[str]) -> Iterator[str]:
    for family in ("packs", "dags", "cluster", "moldable", "bags"):
        module = getattr(cs, family)
        names = [*module.DEFAULT_COMPARE, *(f"bound:{name}" for name in module.BOUNDS)]
        if family == "cluster":
            names = ["FCFS", "EASY", "Greedy */per/opt=min/minvt=600", "MCB8 */per/opt=avg"] + [
                name for name in names if name.startswith("bound:")
            ]
        names += [key.partition("/")[2] for key in EXTRA if key.startswith(f"{family}/")]
        for name in names:
            case = f"{family}/{name}"
            if not chosen or any(case.startswith(start) for start in chosen):
                yield case


def call_of(case: str) -> tuple[Callable[..., Any], bool]:
    """The call, and whether it takes a time limit of its own."""
    family, _, name = case.partition("/")
    module = getattr(cs, family)
    instance = INSTANCES.get(case, INSTANCES[family])()
    if case in EXTRA:
        make, call = EXTRA[case]
        input_value = make(instance)
        return lambda: call(instance, input_value), False
    bound = name.startswith("bound:")
    function = module.BOUNDS[name[6:]] if bound else module.FAMILY.algorithm(name)
    names = getattr(function, "func", function).__code__.co_varnames
    return lambda **options: function(instance, **options), "time_limit" in names


def child(case: str, mode: str, limit: float) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    call, stops_itself = call_of(case)
    options = {"time_limit": limit} if mode == "limit" else {}
    if mode == "limit" and not stops_itself:
        print(json.dumps({"outcome": "no limit of its own", "late": None}), flush=True)
        return
    begin = time.monotonic()
    print("ready", flush=True)
    try:
        with _core.time_limit(limit) if mode == "around" else nullcontext():
            answer = call(**options)
        outcome = getattr(answer, "status", "ok")
    except (cs.errors.TimeLimit, KeyboardInterrupt, cs.CoschedError) as error:
        outcome = type(error).__name__
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what came too late is no outcome
    overrun = max(0.0, time.monotonic() - begin - limit)
    print(json.dumps({"outcome": outcome, "late": overrun}), flush=True)


def run(case: str, mode: str, limit: float) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", mode, "--limit", str(limit), case]
    # Unbuffered: what is read behind the first line would be lost to communicate().
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        first = process.stdout.readline().decode()
        if mode == "SIGINT" and first == "ready\n":
            time.sleep(limit)
            process.send_signal(signal.SIGINT)
        try:
            rest, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            return {"outcome": "killed", "late": PATIENCE}
    lines = [line for line in [first, *rest.decode().splitlines()] if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    return {
        "outcome": (errors.decode().strip().splitlines() or ["nothing was said"])[-1],
        "late": PATIENCE,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="families, or names that begin like this")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds")
    parser.add_argument("--check", action="store_true", help="exit code 1 if 1 s or 10% late")
    parser.add_argument("--child", choices=MODES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.names[0], arguments.child, arguments.limit)
        return 0
    allowed, overrun_count = max(1.0, 0.1 * arguments.limit), 0
    print(f"{'':40}" + "".join(f"{mode:>28}" for mode in MODES) + f"   ({arguments.limit:g} s)")
    for case in cases(arguments.names):
        cells = []
        for mode in MODES:
            outcome = run(case, mode, arguments.limit)
            if outcome["late"] is None:
                cells.append("-")
                continue
            mark = " LATE" if outcome["late"] > allowed else ""
            overrun_count += bool(mark)
            cells.append(f"{outcome['outcome']} +{outcome['late']:.2f}{mark}")
        print(f"{case:40}" + "".join(f"{cell:>28}" for cell in cells), flush=True)
    return 1 if arguments.check and overrun_count else 0


if __name__ == "__main__":
    sys.exit(main())
