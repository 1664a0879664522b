"""Task graphs of SAGA's sixteen data sets: its heuristics and ours, ratios with a proof.

    bench_saga.py                          # 5 instances of each data set, all tables
    bench_saga.py --instances 2 --datasets chains etl
    bench_saga.py --answers FOLDER         # keep SAGA's schedules there, or read them
    bench_saga.py --only pisa --seeds 5    # PISA and cs.dags.worst_case at equal processor time

``pip install anrg-saga``; it may be in another Python, named by SAGA_PYTHON. SAGA needs the traces
that it clones into ~/.saga/data (wfcommons/pegasus-instances) for the networks of nine data sets.

Each node of SAGA's network is a resource type of one unit here, nodes that nothing tells apart are
units of one type; each unit has its own memory. That is exact: every schedule of SAGA passes our
validator, with the makespan that SAGA reports. "best" is the least makespan that any program found,
"bound" the greatest proven lower bound. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import cosched as cs

PEER = Path(__file__).with_name("saga_peer.py")
PYTHON_OF_SAGA = os.environ.get("SAGA_PYTHON", sys.executable)
TREES = ("in_trees", "out_trees", "chains")
RIOTBENCH = ("etl", "predict", "stats", "train")
WORKFLOWS = (
    *("blast", "bwa", "cycles", "epigenomics", "genome"),
    *("montage", "seismology", "soykb", "srasearch"),
)
DATASETS = TREES + RIOTBENCH + WORKFLOWS
#: Algorithms for any number of resource types whose data takes time; hlp-best is asked apart.
LISTS = (
    *("heft", "cpop", "peft", "etf", "min-min", "eft"),
    *("dmda", "dmdas", "hlp-est", "hlp-ols"),
)
SEARCHES = ("hlp-best", "optimal")
#: Up to so many tasks `optimal` is asked, with this work: partial schedules.
MAX_EXACT_TASKS, EXACT_WORK = 32, 3_000_000
#: Two values are one where they differ by rounding only.
TOLERANCE = 1e-9


def ask_peer(*arguments: object, questions: str = "") -> Iterator[Any]:
    """What SAGA answers, line by line. Hashes are fixed: it breaks ties by the order of sets."""
    command = [PYTHON_OF_SAGA, str(PEER), *map(str, arguments)]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, input=questions, capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(f"bench_saga.py: {' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return map(json.loads, done.stdout.splitlines())


def interchangeable_nodes(speeds: list[float], links: np.ndarray) -> list[list[int]]:
    """Nodes by class: of one speed, with the same links to all other nodes."""
    classes: list[list[int]] = []
    for node, speed in enumerate(speeds):
        for members in classes:
            other = members[0]
            elsewhere = np.arange(len(speeds))
            elsewhere = elsewhere[(elsewhere != node) & (elsewhere != other)]
            is_same = np.array_equal(links[node, elsewhere], links[other, elsewhere])
            if speeds[other] == speed and is_same:
                members.append(node)
                break
        else:
            classes.append([node])
    return classes


@dataclass(frozen=True)
class Mapped:
    """An instance of SAGA as one of cosched."""

    instance: cs.dags.Instance
    #: Resource type of each node, and the number of its unit within the type.
    place: dict[int, tuple[int, int]]


def mapped(described: dict[str, Any]) -> Mapped:
    """The same tasks, data and network: classes of nodes are resource types."""
    speeds, links = described["speeds"], np.array(described["links"])
    classes = interchangeable_nodes(speeds, links)
    first = [members[0] for members in classes]
    rates = links[np.ix_(first, first)]
    for kind, members in enumerate(classes):
        rates[kind, kind] = links[members[0], members[1]] if len(members) > 1 else 1.0
    times = np.array(described["costs"])[:, None] / np.array(speeds)[first]
    instance = cs.dags.Instance(
        times,
        described["edges"],
        [len(members) for members in classes],
        data=described["data"],
        bandwidth=rates,
        memories="unit",
    )
    place = {
        node: (kind, unit)
        for kind, members in enumerate(classes)
        for unit, node in enumerate(members)
    }
    return Mapped(instance, place)


def without_rounding(graph: Mapped, schedule: dict[str, Any]) -> cs.core.Schedule:
    """SAGA's schedule, each task no earlier than its data and unit are there.

    SAGA's HEFT computes a start as end minus time, which loses what tasks and data of 1e-9 take.
    """
    instance = graph.instance
    kinds, units = np.array([graph.place[node] for node in schedule["node"]]).T
    starts = np.maximum(schedule["start"], 0.0)
    durations = instance.times[np.arange(instance.tasks), kinds]
    position = np.argsort(instance.order)
    waits = [
        (before, after, seconds)
        for (before, after), seconds in zip(
            instance.edges.tolist(), instance.transfer_times(kinds, units).tolist(), strict=True
        )
    ]
    sequence = np.lexsort((position, schedule["end"], schedule["start"], units, kinds))
    for before, after in zip(sequence[:-1].tolist(), sequence[1:].tolist(), strict=True):
        if (kinds[before], units[before]) == (kinds[after], units[after]):
            waits.append((before, after, 0.0))
    waits.sort(key=lambda wait: position[wait[1]])
    for _ in range(instance.tasks):
        earlier = starts.copy()
        for before, after, seconds in waits:
            starts[after] = max(starts[after], starts[before] + durations[before] + seconds)
        if np.array_equal(earlier, starts):
            break
    rows, begins = np.arange(instance.tasks), np.arange(instance.tasks + 1)
    return cs.core.Schedule(instance, rows, kinds, begins, units, starts, starts + durations)


def checked_makespan(graph: Mapped, schedule: dict[str, Any]) -> float:
    """The makespan that SAGA states, after its schedule passed our validator with that makespan."""
    placed = without_rounding(graph, schedule)
    placed.validate()
    makespan = float(schedule["makespan"])
    shifts = np.abs(placed.start - schedule["start"])
    if max(float(shifts.max()), abs(placed.makespan - makespan)) > TOLERANCE * makespan:
        raise SystemExit("bench_saga.py: a schedule of SAGA is none of cosched's model")
    return makespan


@dataclass
class Row:
    """What is known of one instance."""

    dataset: str
    tasks: int
    machines: int
    bound: float
    bound_seconds: float
    #: Makespans and processor seconds by algorithm; SAGA's names begin with "SAGA ".
    makespans: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """The least makespan that any program found."""
        return min(self.makespans.values())

    @property
    def is_proved(self) -> bool:
        """Whether the best schedule is proved optimal."""
        return self.best <= self.bound * (1 + TOLERANCE)


def timed(work: Any) -> tuple[Any, float]:
    begin = time.process_time()
    answer = work()
    return answer, time.process_time() - begin


def measured(dataset: str, described: dict[str, Any]) -> Row:
    """The bound, our algorithms and SAGA's on one instance."""
    graph = mapped(described)
    instance = graph.instance
    bound, seconds = timed(lambda: float(cs.dags.bound(instance)))
    row = Row(dataset, instance.tasks, sum(instance.units), bound, seconds)
    for name in (*LISTS, *SEARCHES):
        options: dict[str, Any] = {}
        if name == "optimal":
            if instance.tasks > MAX_EXACT_TASKS:
                continue
            options = {"work": EXACT_WORK}
        result, took = timed(
            lambda name=name, options=options: cs.dags.solve(instance, name, **options)
        )
        result.schedule.validate()
        row.makespans[name], row.seconds[name] = result.value, took
        if result.bound is not None:
            row.bound = max(row.bound, float(result.bound))
    for name, schedule in described["schedules"].items():
        if "error" in schedule:
            print(f"  SAGA {name} on {dataset}: {schedule['error']}", file=sys.stderr)
            continue
        row.makespans[f"SAGA {name}"] = checked_makespan(graph, schedule)
        row.seconds[f"SAGA {name}"] = schedule["seconds"]
    return row


def mean_and_worst(ratios: list[float]) -> str:
    return f"{statistics.mean(ratios):.3f} ({max(ratios):.2f})" if ratios else "-"


def print_datasets(rows: dict[str, list[Row]]) -> None:
    print("\n| data set | instances | tasks | nodes | best / bound: mean (worst) |", end="")
    print(" proved optimal | bound s | hlp-best s | best of SAGA / best: mean (worst) |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for dataset, members in rows.items():
        tasks, nodes = [row.tasks for row in members], [row.machines for row in members]
        theirs = [
            min(value for name, value in row.makespans.items() if name.startswith("SAGA"))
            / row.best
            for row in members
        ]
        print(
            f"| {dataset} | {len(members)} | {min(tasks)}-{max(tasks)} | "
            f"{min(nodes)}-{max(nodes)} | "
            f"{mean_and_worst([row.best / row.bound for row in members])} | "
            f"{sum(row.is_proved for row in members)} | "
            f"{statistics.mean(row.bound_seconds for row in members):.3f} | "
            f"{statistics.mean(row.seconds['hlp-best'] for row in members):.3f} | "
            f"{mean_and_worst(theirs)} |"
        )


def print_algorithms(rows: dict[str, list[Row]]) -> None:
    """One line per algorithm, best first: over all instances, each data set with equal weight."""
    everything = [row for members in rows.values() for row in members]
    names = dict.fromkeys(name for row in everything for name in row.makespans)

    def mean_of(name: str, reference: str) -> float:
        means = []
        for members in rows.values():
            ratios = [
                row.makespans[name] / getattr(row, reference)
                for row in members
                if name in row.makespans
            ]
            means += [statistics.mean(ratios)] if ratios else []
        return statistics.mean(means)

    print("\n| algorithm | instances | / best: mean (worst) | / bound: mean (worst) |", end="")
    print(" is best | proved optimal | ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in sorted(names, key=lambda name: mean_of(name, "best")):
        members = [row for row in everything if name in row.makespans]
        values = [row.makespans[name] for row in members]
        pairs = list(zip(members, values, strict=True))
        print(
            f"| {name} | {len(members)} | "
            f"{mean_of(name, 'best'):.3f} ({max(v / row.best for row, v in pairs):.2f}) | "
            f"{mean_of(name, 'bound'):.3f} ({max(v / row.bound for row, v in pairs):.2f}) | "
            f"{sum(v <= row.best * (1 + TOLERANCE) for row, v in pairs)} | "
            f"{sum(v <= row.bound * (1 + TOLERANCE) for row, v in pairs)} | "
            f"{1e3 * statistics.mean(row.seconds[name] for row in members):.2f} |"
        )


def print_without_easy_instances(rows: dict[str, list[Row]]) -> None:
    """Ratios where there is something to decide: not on one node, and not on RIoTBench's cloud."""
    members = [
        row
        for dataset, rows_of_set in rows.items()
        for row in rows_of_set
        if dataset not in RIOTBENCH and row.machines > 1
    ]
    if not members:
        return
    proved = sum(row.is_proved for row in members)
    gap = mean_and_worst([row.best / row.bound for row in members])
    print(f"\nwithout RIoTBench and networks of one node: {len(members)} instances,", end="")
    print(f" {proved} proved optimal, best / bound {gap}; makespan / best, mean (worst):")
    for name in members[0].makespans:
        ratios = [row.makespans[name] / row.best for row in members if name in row.makespans]
        print(f"  {name}: {mean_and_worst(ratios)} of {len(ratios)}")


def print_means(rows: dict[str, list[Row]]) -> None:
    """One line per algorithm, one column per data set: mean makespan / best (worst)."""
    names = dict.fromkeys(name for m in rows.values() for row in m for name in row.makespans)
    print("\n| makespan / best | " + " | ".join(rows) + " |")
    print("|---|" + "---:|" * len(rows))
    for name in names:
        cells = [
            mean_and_worst([r.makespans[name] / r.best for r in members if name in r.makespans])
            for members in rows.values()
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


def schedules_of_saga(
    dataset: str, instances: int, seed: int, folder: Path | None
) -> Iterator[Any]:
    """Instances with SAGA's schedules, from the folder where an earlier run left them there."""
    path = None if folder is None else folder / f"{dataset}.{instances}.{seed}.jsonl"
    if path is not None and path.exists():
        yield from map(json.loads, path.read_text().splitlines())
        return
    answers = list(ask_peer("schedules", dataset, instances, seed))
    if path is not None:
        path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    yield from answers


def compare_on_datasets(
    datasets: list[str], instances: int, seed: int, folder: Path | None
) -> None:
    rows: dict[str, list[Row]] = defaultdict(list)
    for dataset in datasets:
        for described in schedules_of_saga(dataset, instances, seed, folder):
            rows[dataset].append(measured(dataset, described))
        print(f"{dataset}: done", file=sys.stderr, flush=True)
    print_datasets(rows)
    print_algorithms(rows)
    print_without_easy_instances(rows)
    print_means(rows)


#: SAGA's schedulers that PISA has, and the algorithms of cosched with these names.
COMMON = {"HEFT": "heft", "CPoP": "cpop", "MinMin": "min-min"}
#: PISA begins with 3 to 5 tasks and as many nodes; here they are the most of both.
PISA_TASKS, PISA_NODES = 5, 5
#: Instances that show how many an algorithm judges in a second.
PROBE = 300


def worst_case_of(algorithm: str, base: str, seconds: float, seed: int) -> tuple[Any, float]:
    """Our search with as much processor time as PISA used."""

    def search(work: int) -> Any:
        return cs.dags.worst_case(
            algorithm,
            against=base,
            tasks=PISA_TASKS,
            units=(1,) * PISA_NODES,
            machines="network",
            work=work,
            seed=seed,
        )

    _, probed = timed(lambda: search(PROBE))
    return timed(lambda: search(max(PROBE, round(PROBE * seconds / probed))))


def described_network(instance: cs.dags.Instance) -> dict[str, Any]:
    """An instance of the search as SAGA's: the first node's speed is 1, costs are its times."""
    links = instance.bandwidth
    return {
        "costs": instance.times[:, 0].tolist(),
        "edges": instance.edges.tolist(),
        "data": instance.data.tolist(),
        "speeds": (instance.times[0, 0] / instance.times[0]).tolist(),
        "links": links.tolist(),
    }


def ratio_here(described: dict[str, Any], algorithm: str, base: str) -> float:
    instance = mapped(described).instance
    return float(cs.dags.solve(instance, algorithm).value / cs.dags.solve(instance, base).value)


def compare_with_pisa(seeds: int, tries: int) -> None:
    """Medians over seeds of the worst ratio, and each search's instances judged by the other."""
    print(f"\nPISA: {tries} runs of 459 steps for each of {seeds} seeds; medians over seeds")
    print("| algorithm, base | PISA | its instance here | s |", end="")
    print(" worst_case | its instance by SAGA | s | instances: PISA, here |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for theirs, ours in COMMON.items():
        for their_base, our_base in COMMON.items():
            if theirs == their_base:
                continue
            pisa = list(ask_peer("pisa", theirs, their_base, tries, seeds))
            ours_found = [
                worst_case_of(ours, our_base, answer["seconds"], seed)
                for seed, answer in enumerate(pisa)
            ]
            questions = "".join(
                json.dumps(
                    {
                        "instance": described_network(worst.instance),
                        "schedulers": [theirs, their_base],
                    }
                )
                + "\n"
                for worst, _ in ours_found
            )
            by_saga = [value / below for value, below in ask_peer("judge", questions=questions)]
            rows = [
                (
                    answer["ratio"],
                    ratio_here(answer["instance"], ours, our_base),
                    answer["seconds"],
                    worst.ratio,
                    judged,
                    took,
                    answer["steps"],
                    worst.evaluations,
                )
                for answer, (worst, took), judged in zip(pisa, ours_found, by_saga, strict=True)
            ]
            cells = [statistics.median(column) for column in zip(*rows, strict=True)]
            pisa_ratio, here, pisa_seconds, ratio, judged, took, steps, evaluations = cells
            print(
                f"| {ours}, {our_base} | {pisa_ratio:.2f} | {here:.2f} | {pisa_seconds:.1f} | "
                f"{ratio:.2f} | {judged:.2f} | {took:.1f} | {steps:.0f}, {evaluations:.0f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("datasets", "pisa"))
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--instances", type=int, default=5, help="of each data set")
    parser.add_argument("--seed", type=int, default=1, help="of the data sets")
    parser.add_argument("--answers", type=Path, help="folder that keeps what SAGA answered")
    parser.add_argument("--seeds", type=int, default=3, help="of each pair of PISA")
    parser.add_argument("--tries", type=int, default=2, help="runs of PISA for each seed")
    arguments = parser.parse_args()
    has_saga = subprocess.run([PYTHON_OF_SAGA, "-c", "import saga"], capture_output=True)
    if has_saga.returncode:
        print(f"bench_saga.py: skipped, {PYTHON_OF_SAGA} has no SAGA (pip install anrg-saga)")
        return
    if arguments.only != "pisa":
        compare_on_datasets(
            arguments.datasets, arguments.instances, arguments.seed, arguments.answers
        )
    if arguments.only != "datasets":
        compare_with_pisa(arguments.seeds, arguments.tries)


if __name__ == "__main__":
    main()
