"""Makes sacct.txt: a week of the made-up cluster of slurm.conf, under Slurm's own rules.

``python make.py`` draws the jobs of six users by a fixed seed, lets ``slurm-backfill`` run them and
writes what ``sacct -P -X`` would have printed.
"""

import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

import cosched as cs

HERE = Path(__file__).parent
BEGIN = datetime(2026, 9, 7)
DAY = 86400
JOBS = 560
#: user: account, share of the jobs, largest number of nodes, hours of a limit, used part of it.
USERS = {
    "ada": ("physics", 0.20, 8, (2, 4, 12), 0.4),
    "ben": ("physics", 0.15, 4, (2, 6), 0.9),
    "cam": ("biology", 0.35, 1, (1, 4, 8), 0.15),
    "dan": ("biology", 0.10, 2, (8, 24), 0.35),
    "eva": ("chemistry", 0.12, 10, (2, 6), 0.6),
    "fay": ("chemistry", 0.08, 2, (4, 12), 0.6),  # on GPUs
}
HEADER = (
    "JobID|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|"
    "NNodes|NCPUS|ReqTRES|AllocTRES|NodeList"
)


def drawn(rng):
    """What each job is: submission (s), user, nodes, cores, limit (s), run time (s)."""
    hours = rng.choice(7 * 24, JOBS, p=_weights())
    submit = np.sort(np.floor(hours * 3600 + rng.uniform(0, 3600, JOBS)))
    jobs = []
    for time in submit:
        name = str(rng.choice(list(USERS), p=[share for _, share, *_ in USERS.values()]))
        account, _, most, limits, part = USERS[name]
        nodes = int(min(most, 2 ** rng.integers(0, most.bit_length())))
        cores = 16 * nodes if nodes > 1 else int(rng.choice([1, 4, 8, 16]))
        limit = 3600 * int(rng.choice(limits))
        used = float(np.clip(part * np.exp(rng.normal(0, 0.5)), 0.005, 1))
        jobs.append((int(time), name, account, nodes, cores, limit, max(30, int(limit * used))))
    return jobs


def _weights():
    """Four times as many submissions in working hours, a third of them at weekends."""
    hour = np.arange(7 * 24)
    weight = np.where((hour % 24 >= 8) & (hour % 24 < 18), 4.0, 1.0)
    weight[120:] *= 0.33
    return weight / weight.sum()


def text(jobs, starts, places):
    rows = [HEADER]
    for number, job in enumerate(jobs):
        submit, user, account, nodes, cores, limit, seconds = job
        gpu = user == "fay"
        start, end = int(starts[number]), int(starts[number]) + seconds
        tres = f"cpu={cores},mem={cores * (8 if gpu else 4)}000M,node={nodes}"
        tres += f",gres/gpu={nodes}" if gpu else ""
        rows.append(
            f"{1001 + number}|{user}-{limit // 3600}h|{user}|{account}|{'gpu' if gpu else 'batch'}|"
            f"{'TIMEOUT' if seconds >= limit else 'COMPLETED'}|"
            f"{_date(submit)}|{_date(start)}|{_date(end)}|"
            f"{_span(seconds)}|{_span(limit)}|{nodes}|{cores}|{tres}|{tres}|{places[number]}"
        )
    return "\n".join(rows) + "\n"


def _date(seconds):
    return (BEGIN + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def _span(seconds):
    days, rest = divmod(seconds, DAY)
    return f"{days}-{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


def main():
    jobs = drawn(np.random.default_rng(7))
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "asked.txt")
        asked.write_text(text(jobs, [job[0] for job in jobs], ["n1"] * JOBS))
        machine = cs.cluster.Machine.read(HERE / "slurm.conf")
        instance = cs.cluster.from_sacct(asked, machine)
        result = cs.cluster.solve(instance, "slurm-backfill", seed=0)
    schedule = result.schedule.to_frame().set_index("task")
    names = [f"n{k}" for k in range(1, 21)] + [f"g{k}" for k in range(1, 5)]
    schedule = schedule.loc[range(JOBS)]
    places = [
        ",".join(dict.fromkeys(names[unit // 16] for unit in units)) for units in schedule.units
    ]
    (HERE / "sacct.txt").write_text(text(jobs, schedule.start + jobs[0][0], places))


if __name__ == "__main__":
    main()
