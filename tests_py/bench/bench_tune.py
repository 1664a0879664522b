"""Does ``tune`` find what was hidden, nothing where there is nothing, and is its interval right?

``python tests_py/bench/bench_tune.py [optimum|equal|interval] [TRIALS]``: generated logs of a few
hundred jobs a week.

* ``optimum``: one weight was set wrongly on purpose: is the value that is found within 5% of that
  under the right one, on twenty weeks that nobody has seen? (20 seeds)
* ``equal``: settings that are the same but for their clocks: is there no winner? (20 seeds)
* ``interval``: does the interval of the gain hold on twenty further weeks? (100 logs)
"""

import sys
import time

import numpy as np

import cosched as cs
from cosched.slurm.machines import slurm_machine
from cosched.slurm.tuning import tune
from cosched.slurm.tuning.setting_simulation import SimulationContext
from cosched.slurm.tuning.space import TuningMeasure
from cosched.slurm.tuning.weeks import weeks_of

WEEK = 7 * 86400.0
CORES = 64
CONF = """ClusterName=c
SlurmctldHost=h
AccountingStorageType=accounting_storage/slurmdbd
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityMaxAge=7-0
PriorityWeightPartition={weight}
SchedulerParameters=bf_interval=300
NodeName=n[1-16] CPUs=4
PartitionName=long Nodes=ALL Default=YES MaxTime=2-0 PriorityJobFactor=1
PartitionName=short Nodes=ALL MaxTime=4:00:00 PriorityJobFactor=10
"""
#: The weight under which short jobs go first, and the one that somebody typed.
RIGHT, WRONG = 500, 0
OBJECTIVE = "mean_bounded_slowdown"


def log(seed, weeks, jobs):
    """So many jobs a week: short narrow ones, and a few long wide ones that fill the machine."""
    random = np.random.default_rng([seed, 17])
    count = weeks * jobs
    scale = np.log(250 / jobs)  # the fewer, the longer
    short = random.random(count) < 0.8
    submit = np.sort(random.uniform(0, weeks * WEEK, count))
    runtime = np.where(short, random.lognormal(scale + 7.5, 0.8, count),
                       random.lognormal(scale + 9.9, 0.6, count))  # fmt: skip
    runtime = np.minimum(runtime, np.where(short, 4 * 3600, 40 * 3600)).round()
    tasks = np.where(short, random.integers(1, 9, count), 2 ** random.integers(4, 6, count))
    return {
        "submit": submit.round(), "tasks": tasks, "cpu": np.ones(count), "memory": np.ones(count),
        "runtime": runtime, "estimate": (runtime * random.uniform(1, 3, count)).round() + 60,
        "partition": np.where(short, "short", "long"),
    }  # fmt: skip


def instance(seed, weeks, jobs=250):
    text = CONF.format(weight=WRONG)
    machine = slurm_machine(text, "slurm.conf", "22.05")
    return cs.cluster.Instance(log(seed, weeks, jobs), nodes=CORES, machine=machine)


def values(seed, weeks, jobs, *settings):
    """Mean of the objective over further weeks of the same kind, under settings ({key: value})."""
    log = instance(seed + 5000, weeks + 1, jobs)
    block = weeks_of(log, f"train=1,test=2-{weeks + 1}", 7).folds[0].test
    found = []
    for setting in settings:
        world = SimulationContext(
            tuple(setting), (block,), (TuningMeasure.of_text(OBJECTIVE),), 1, 99
        )
        task = {"setting": tuple(setting.values()), "block": 0, "first": 0, "last": 1}
        found.append(float(np.mean(world.run(task)["values"])))
    return found


def optimum(seed, budget=40, weeks=40):
    """Value found over the value of the planted setting, on weeks that nobody has seen."""
    found = tune(
        instance(seed, 16), weeks="train=1-12,test=13-16",
        vary={"PriorityWeightPartition": "0..1000", "PriorityWeightJobSize": "0..1000"},
        objective=OBJECTIVE, budget=budget, draws=1, seed=seed,
    )  # fmt: skip
    then, planted = values(seed, weeks, 250, found.best, {"PriorityWeightPartition": str(RIGHT)})
    return then / planted, found.better


def equal(seed):
    """Whether a winner is found among settings that differ by a second of a clock."""
    vary = {"bf_interval": [299, 301], "sched_interval": [60, 61]}
    found = tune(instance(seed, 4), vary=vary, objective=OBJECTIVE, draws=4, seed=seed)
    return found.better, len(found.all_trials)


def interval(seed, weeks=40, budget=16, jobs=125):
    """The interval of the gain, and the gain on further weeks."""
    found = tune(
        instance(seed, 16, jobs), vary={"PriorityWeightPartition": "0..1000"}, objective=OBJECTIVE,
        weeks="train=1-4,test=5-16", budget=budget, draws=2, seed=seed,
    )  # fmt: skip
    then, now = values(seed, weeks, jobs, found.best, {})
    return found.gain_p05, found.gain_p95, 1 - then / now


def show_optimum(trials=20):
    ratios = []
    for seed in range(trials):
        ratio, better = optimum(seed)
        ratios.append(ratio)
        print(f"  seed {seed}: {ratio:.3f} of the planted value, better {better}", flush=True)
    good = sum(ratio <= 1.05 for ratio in ratios)
    print(f"optimum: within 5% of the planted value in {good} of {trials} seeds "
          f"(worst {max(ratios):.3f})")  # fmt: skip


def show_equal(trials=20):
    won = [equal(seed)[0] for seed in range(trials)]
    print(f"equal: no winner in {won.count(False)} of {trials} seeds")


def show_interval(trials=100):
    rows = []
    for seed in range(trials):
        rows.append(interval(seed))
        low, high, true = rows[-1]
        print(f"  log {seed}: {low:.3f} to {high:.3f}, true {true:.3f}", flush=True)
    holds = sum(low <= true <= high for low, high, true in rows)
    width = np.mean([high - low for low, high, _ in rows])
    print(f"interval: holds in {holds} of {trials} logs; {width:.3f} wide on average, the gain is "
          f"{np.mean([true for *_, true in rows]):.3f}")  # fmt: skip


if __name__ == "__main__":
    begin = time.process_time()
    shown = {"optimum": show_optimum, "equal": show_equal, "interval": show_interval}
    wanted = sys.argv[1:2] or list(shown)
    for name in wanted:
        shown[name](*map(int, sys.argv[2:3]))
        print(f"{name}: {time.process_time() - begin:.0f} s of a processor so far")
