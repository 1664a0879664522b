"""The library's four simplex methods against HiGHS with a warm basis, on recorded sequences.

``simplex_bench --write FILE`` (tests_cpp/bench; ``make bench`` builds it) records which columns
come and close and which rows change before each solve. Here HiGHS gets them, from the same first
basis, and keeps its basis. Its time is the processor time of ``Highs.run`` alone; what the call
through Python costs is measured on an empty model and printed beside it.
"""

import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import highspy
import numpy as np

BENCH = Path(__file__).parents[2] / "build" / "bench" / "tests_cpp" / "simplex_bench"
#: What ``write`` puts in a round, and which of it HiGHS takes as integers.
ROUND = ["cost", "lower", "start", "row", "value", "close"]
ROUND += ["changed", "changed_lower", "changed_upper"]
INTEGERS = {"start", "row", "close", "changed"}


def numbers(line):
    return np.array(line.split()[1:], dtype=float)


def traces(path):
    """The sequences that ``write`` of tests_cpp/support/lp_trace.hpp wrote."""
    with path.open() as lines:
        for name in lines:
            dual, value, seconds, rounds = next(lines).split()
            trace = {"name": name.strip(), "dual": dual == "1"}
            trace |= {"value": float(value), "seconds": float(seconds)}
            trace |= {field: numbers(next(lines)) for field in ("lower", "upper", "basic", "tight")}
            trace["rounds"] = [
                {
                    field: numbers(line).astype(np.int32) if field in INTEGERS else numbers(line)
                    for field, line in zip(ROUND, islice(lines, len(ROUND)), strict=True)
                }
                for _ in range(int(rounds))
            ]
            yield trace


def new_solver():
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("threads", 1)
    return solver


def timed_run(solver):
    begin = time.process_time()
    solver.run()
    return time.process_time() - begin


def first_basis(trace, columns):
    status = highspy.HighsBasisStatus
    rows = [status.kBasic] * len(trace["lower"])
    for i in trace["tight"].astype(int):
        rows[i] = status.kLower if np.isfinite(trace["lower"][i]) else status.kUpper
    of_columns = [status.kLower] * columns
    for j in trace["basic"].astype(int):
        of_columns[j] = status.kBasic
    basis = highspy.HighsBasis()
    basis.row_status, basis.col_status, basis.valid = rows, of_columns, True
    return basis


def change(solver, step):
    columns, entries = len(step["cost"]), len(step["row"])
    if columns:
        upper = np.full(columns, highspy.kHighsInf)
        matrix = (entries, step["start"], step["row"], step["value"])
        solver.addCols(columns, step["cost"], step["lower"], upper, *matrix)
    for column in step["close"]:
        solver.changeColBounds(int(column), 0.0, 0.0)
    for row, lower, upper in zip(
        step["changed"], step["changed_lower"], step["changed_upper"], strict=True
    ):
        solver.changeRowBounds(int(row), lower, upper)


def replay(trace):
    """Seconds of all solves, and the last value."""
    solver = new_solver()
    solver.setOptionValue("simplex_strategy", 1 if trace["dual"] else 4)
    rows = len(trace["lower"])
    empty = np.zeros(0, dtype=np.int32)
    starts = np.zeros(rows, dtype=np.int32)
    solver.addRows(rows, trace["lower"], trace["upper"], 0, starts, empty, np.zeros(0))
    elapsed = 0.0
    for index, step in enumerate(trace["rounds"]):
        change(solver, step)
        if index == 0:
            solver.setBasis(first_basis(trace, len(step["cost"])))
        elapsed += timed_run(solver)
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"{trace['name']}: {solver.getModelStatus()}")
    return elapsed, solver.getObjectiveValue()


def compare(trace, runs=3):
    elapsed, value = min(replay(trace) for _ in range(runs))
    print(
        f"  {trace['name']:48} {len(trace['rounds']):4} solves: {1e3 * trace['seconds']:8.3f} ms, "
        f"HiGHS {1e3 * elapsed:9.3f} ms = {elapsed / trace['seconds']:5.1f}x; "
        f"difference {abs(trace['value'] / value - 1):.0e}",
        flush=True,
    )


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder, "sequences")
        if len(sys.argv) == 1:
            if not BENCH.exists():
                print(f"bench_simplex: skipped, {BENCH} is not there (make bench builds it)")
                return
            subprocess.run([BENCH, "--write", path], check=True, stdout=subprocess.DEVNULL)
        empty = new_solver()
        overhead = min(timed_run(empty) for _ in range(1000))
        print(
            "the simplex methods of the library against HiGHS with a warm basis "
            f"(a call of run on an empty model: {1e3 * overhead:.3f} ms)"
        )
        for trace in traces(path):
            compare(trace)


if __name__ == "__main__":
    main()
