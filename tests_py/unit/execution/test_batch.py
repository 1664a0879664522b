"""Many small tasks in few allocations: packing against exhaustive search, bounds, the promise."""

import itertools
import json

import numpy as np
import pytest

from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import BatchTask, TaskList, batch
from cosched.execution.batches.duration_model import replay
from cosched.execution.runs_file import MeasuredRun, read_runs
from cosched.execution.slowdowns import read_slowdowns


def task(name, seconds, cores=1, memory=0.0, after=(), **extra_fields):
    return BatchTask(
        name=name,
        seconds={cores: seconds},
        commands={cores: ("true",)},
        memory={cores: memory},
        after=tuple(after),
        **extra_fields,
    )


def drawn(rng, n, cores, memory, edges=0.0):
    """Tasks of whole seconds."""
    return [
        task(
            f"t{k}",
            float(rng.integers(1, 10)),
            cores=int(rng.integers(1, cores + 1)),
            memory=float(rng.integers(0, memory + 1)),
            after=[f"t{j}" for j in range(k) if rng.random() < edges],
            licences={"solver": 1.0} if rng.random() < 0.3 else {},
        )
        for k, n in enumerate([n] * n)
    ]


def shortest(tasks, nodes, cores, memory):
    """The earliest end of tasks in one allocation: every order, every node, second by second."""
    best = sum(next(iter(task.seconds.values())) for task in tasks)
    names = {task.name for task in tasks}
    for order in itertools.permutations(tasks):
        for places in itertools.product(range(nodes), repeat=len(tasks)):
            ends, used, end = {}, [], 0
            for task, node in zip(order, places, strict=True):
                if any(k in names and k not in ends for k in task.after):
                    break
                ((count, seconds),) = task.seconds.items()
                begin = int(max([0, *(ends[k] for k in task.after if k in ends)]))
                need = (count, task.memory[count], task.licences.get("solver", 0))
                while not _free(used, begin, int(seconds), node, need, (cores, memory, 1)):
                    begin += 1
                used.append((begin, begin + int(seconds), node, need))
                ends[task.name] = begin + int(seconds)
                end = max(end, ends[task.name])
                if end >= best:
                    break
            else:
                best = end
    return best


def _free(used, begin, seconds, node, need, have):
    for second in range(begin, begin + seconds):
        now = [u for u in used if u[0] <= second < u[1]]
        here = [u[3] for u in now if u[2] == node]
        if any(sum(row[k] for row in here) + need[k] > have[k] for k in (0, 1)):
            return False
        if sum(u[3][2] for u in now) + need[2] > have[2]:
            return False
    return True


def exhaustive(tasks, nodes, limit, cores, memory):
    """The least seconds of allocations, over all partitions that can be ordered."""

    def partitions(rest):
        if not rest:
            yield []
            return
        first, *others = rest
        for size in range(len(others) + 1):
            for block in itertools.combinations(others, size):
                other_indices = [k for k in others if k not in block]
                for partition in partitions(other_indices):
                    yield [(first, *block), *partition]

    by_name = {task.name: k for k, task in enumerate(tasks)}
    before = [{by_name[name] for name in task.after} for task in tasks]
    cost_of_block = {}
    best = float("inf")
    for blocks in partitions(list(range(len(tasks)))):
        done, todo = set(), list(blocks)
        while todo:
            ready = [b for b in todo if all(before[k] <= done | set(b) for k in b)]
            if not ready:
                break
            done |= set(ready[0])
            todo.remove(ready[0])
        if todo:
            continue
        total = 0
        for block in blocks:
            if block not in cost_of_block:
                cost_of_block[block] = shortest([tasks[k] for k in block], nodes, cores, memory)
            total += cost_of_block[block] if cost_of_block[block] <= limit else float("inf")
        best = min(best, total)
    return best


@pytest.mark.parametrize("seed", range(20))
def test_few_tasks_equal_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        nodes, cores, memory = int(rng.integers(1, 3)), int(rng.integers(1, 4)), 4
        tasks = drawn(rng, int(rng.integers(1, 5)), cores, memory, edges=0.2)
        limit = float(rng.integers(9, 16))
        batch_plan = batch(
            tasks, nodes=nodes, limit=limit, cores=cores, memory=memory,
            licences={"solver": 1.0}, spread=0.0,
        )  # fmt: skip
        best = nodes * exhaustive(tasks, nodes, limit, cores, memory)
        assert batch_plan.node_seconds == pytest.approx(best)
        assert batch_plan.bound <= best * (1 + 1e-9)
        keeps(batch_plan)


def keeps(batch_plan):
    """Every rule that a plan has to keep, looked at moment by moment."""
    where = {}
    for k, allocation in enumerate(batch_plan.allocations):
        assert allocation.end_quantile <= batch_plan.limit * (1 + 1e-9)
        for placement in allocation.tasks:
            where[batch_plan.tasks[placement.task].name] = (k, placement)
        for moment in {placement.start for placement in allocation.tasks}:
            now = [
                placement
                for placement in allocation.tasks
                if placement.start <= moment < placement.end - 1e-9
            ]
            for node in range(batch_plan.problem.nodes):
                needs = [
                    batch_plan.problem.needs[placement.task]
                    for placement in now
                    if placement.node == node
                ]
                for have, used in zip(
                    batch_plan.problem.node, zip(*needs, strict=True), strict=False
                ):
                    assert sum(used) <= have + 1e-6
            holds = zip(
                *(batch_plan.problem.shared_needs[placement.task] for placement in now), strict=True
            )
            for have, used in zip(batch_plan.problem.shared, holds, strict=False):
                assert sum(used) <= have + 1e-6
    assert len(where) == len(batch_plan.tasks)
    for task in batch_plan.tasks:
        k, placement = where[task.name]
        for name in task.after:
            first, other = where[name]
            assert first in batch_plan.allocations[k].after or (
                first == k and other.end <= placement.start
            )


def campaign(seed):
    """Tasks as people have them: some hundred, of one to eight cores, with memory and edges."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(40, 80)), seed % 3
    return [
        task(
            f"t{k}",
            float(rng.lognormal(4.5, 0.6)),
            cores=int(rng.choice([1, 1, 2, 4, 8])) if kind else 1,
            memory=float(rng.uniform(0.5, 6.0)) if kind == 2 else 0.0,
            after=[f"t{rng.integers(k)}"] if k > 20 and rng.random() < 0.2 else (),
        )
        for k in range(n)
    ]


def test_node_hours_are_near_the_bound():
    batch_plans = [
        batch(campaign(seed), nodes=1 + seed % 2, limit=1800.0, cores=16, memory=64.0)
        for seed in range(10)
    ]
    for batch_plan in batch_plans:
        keeps(batch_plan)
    assert np.mean([batch_plan.gap for batch_plan in batch_plans]) < 0.05


def test_the_promise_holds_with_drawn_times():
    within_limit = 0
    for seed in range(20):  # batches, each with five futures
        rng = np.random.default_rng(seed)
        times = rng.uniform(30, 200, 9)
        run_times = times * rng.lognormal(0.0, 0.15, (8, len(times)))
        median = np.median(run_times[:3], axis=0)
        runs = [
            MeasuredRun(f"t{k}", 1, float(run_times[r, k]), "completed", "", "", 1)
            for r in range(3) for k in range(len(times))
        ]  # fmt: skip
        seen = tuple(task(f"t{k}", float(t)) for k, t in enumerate(median))
        batch_plan = batch(TaskList(seen, tuple(runs)), limit=420.0, cores=2)
        for real in run_times[3:] / median:
            within_limit += all(
                replay(batch_plan.problem, a.tasks, [real[placement.task] for placement in a.tasks])
                <= 420.0
                for a in batch_plan.allocations
            )
    assert within_limit >= 90


def test_counts_are_chosen_for_node_hours():
    many = {1: 100.0, 2: 60.0, 4: 40.0}
    task = BatchTask(name="a", seconds=many, commands=dict.fromkeys(many, ("true",)))
    alone = batch([task], limit=1000.0, cores=4, spread=0.0)
    assert alone.to_frame().cores.tolist() == [4]  # the node is idle beside it
    several = [BatchTask(name=k, seconds=many, commands=task.commands) for k in "abcdefgh"]
    together = batch(several, limit=1000.0, cores=4, spread=0.0)
    assert set(together.to_frame().cores) == {1}
    assert together.node_seconds == together.bound == 200.0


def test_the_spread_of_repeats_makes_room(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("command,seconds\n" + "".join(f"sleep {k},90 100 110\n" for k in range(4)))
    tasks = TaskList.read(path)
    sure, mean = (batch(tasks, limit=220.0, cores=1, chance=c) for c in (0.95, 0.5))
    assert len(sure.allocations) > len(mean.allocations)
    assert all(allocation.end_quantile <= 220.0 for allocation in sure.allocations)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,7000,1,,,long\n", "task 'long' takes 7000 s, 8234 s with a chance of 95%: longer than"),
        ("a,7,3,,,wide\n", "task 'wide' needs 3 cores, a node has 2"),
        ("a,7,1,9,,big\n", "task 'big' needs 9 GB memory, a node has 8 GB"),
        ("a,7,1,,no,one\n", "task 'one': after: unknown task 'no'"),
        ("a,7,1,,y,x\nb,7,1,,x,y\n", "'x' waits for 'y', 'y' for 'x'"),
        ("a,7,1,,,x\nb,7,1,,,x\n", "task 'x' is there twice"),
        ("a,-7,1,,,x\n", "line 2, column 'seconds'"),
        (",7,1,,,x\n", "line 2, column 'command': empty cell"),
        ("", "a header and no rows after it"),
    ],
)
def test_refusals_name_the_task(rows, said, tmp_path, capsys):
    list_ = tmp_path / "list.csv"
    list_.write_text("command,seconds,cores,memory,after,name\n" + rows)
    arguments = ["batch", str(list_), "--time", "2:00:00", "--cores-per-node", "2"]
    arguments += ["--memory-per-node", "8", "-o", str(tmp_path / "jobs")]
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "jobs").exists()


def test_bounds_know_what_shares_no_node():
    tasks = [task(f"t{k}", 10.0, cores=3) for k in range(4)]  # two of them never fit four cores
    assert batch(tasks, limit=100.0, cores=4, spread=0.0).bound == pytest.approx(40.0)
    with pytest.raises(InvalidInstance, match="chance"):
        batch(tasks, limit=100.0, cores=4, chance=1.0)


def test_codes_and_their_runs(tmp_path, capsys):
    (tmp_path / "codes.toml").write_text(
        "procs = 4\n[capacity]\nmemory = 8\nlicences = { solver = 1 }\n[task.fem]\n"
        'command = "./fem --threads {procs} --cpus {cpus}"\nlicences = { solver = 1 }\n'
        '[task.post]\ncommand = "./post"\nafter = "fem"\nmemory = 6\n'
    )
    (tmp_path / "runs.csv").write_text(
        "task,processors,seconds\nfem,1,400\nfem,4,110\npost,1,30\npost,1,31\n"
    )
    arguments = ["batch", str(tmp_path / "codes.toml"), "--runs", str(tmp_path / "runs.csv")]
    assert main([*arguments, "--time", "60", "-o", str(tmp_path / "jobs")]) == 0
    batch_file = json.loads((tmp_path / "jobs" / "batch.json").read_text())
    (allocation,) = batch_file["allocations"]
    assert [task["name"] for task in allocation["tasks"]] == ["fem", "post"]
    assert allocation["tasks"][0]["cores"] == 4
    assert batch_file["bound"] <= batch_file["node_seconds"]
    script = (tmp_path / "jobs" / allocation["script"]).read_text()
    assert "--licenses=solver:1" in script
    assert "--mem=7630M" in script
    assert "above a bound on all plans" in capsys.readouterr().out


def test_exact_times_and_spreads_out_of_range(tmp_path, capsys):
    list_ = tmp_path / "list.csv"
    list_.write_text("command,seconds\ntrue,30\n")
    arguments = ["batch", str(list_), "--time", "1:00", "--cores-per-node", "1"]
    assert main([*arguments, "--spread", "0", "-o", str(tmp_path / "jobs")]) == 0
    assert json.loads((tmp_path / "jobs" / "batch.json").read_text())["spread"] == 0.0
    for text, message in (
        ("1000", "--spread: 1000.0: expected"),
        ("-1", "--spread: '-1': expected"),
    ):
        assert main([*arguments, "--spread", text, "-o", str(tmp_path / "no")]) == 2
        assert message in capsys.readouterr().err
    for spread in (-0.1, float("nan"), 11.0):
        with pytest.raises(InvalidInstance, match="spread"):
            batch([task("a", 1.0)], limit=60.0, cores=1, spread=spread)


def test_repeated_columns_are_refused(tmp_path):
    path = tmp_path / "list.csv"
    for read, header in (
        (TaskList.read, "command,seconds, Seconds"),
        (read_runs, "task,processors,seconds,seconds"),
        (read_slowdowns, "task,beside,slowdown,slowdown"),
    ):
        path.write_text(f"{header}\na,1,2{',2' * (header.count(',') - 2)}\n")
        with pytest.raises(InvalidInstance, match=r"line 1: 2 columns '\w+': expected one"):
            read(path)


def test_codes_that_were_not_measured_are_refused(tmp_path, capsys):
    (tmp_path / "codes.toml").write_text(
        'procs = 2\n[task.cfd]\ncommand = "./cfd"\n[task.fem]\ncommand = "./fem"\nafter = "cfd"\n'
    )
    (tmp_path / "runs.csv").write_text("task,processors,seconds\ncfd,1,4\n")
    arguments = ["batch", str(tmp_path / "codes.toml"), "--runs", str(tmp_path / "runs.csv")]
    assert main([*arguments, "--time", "60", "-o", str(tmp_path / "jobs")]) == 2
    errors = capsys.readouterr().err
    assert "not measured: fem" in errors
    assert "--strict" not in errors
