"""How much memory an audit takes for each job of its log."""

import subprocess
import sys

import numpy as np

MACHINE = """[[nodes]]
name = "n"
count = 200
cores = 32
memory_gb = 250
[[nodes]]
name = "g"
count = 20
cores = 32
memory_gb = 250
gpus = 4
gpu_type = "a100"
"""
HEADER = (
    "JobID|JobName|User|Account|Partition|State|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|"
    "NCPUS|ReqMem|AllocTRES|NodeList"
)
#: The program that is measured says how much memory it had at most (kB), its imports included.
AUDIT = """
import sys
from cosched.cli import main
try:
    main()
except SystemExit as end:
    if end.code:
        raise
status = open("/proc/self/status").read()
print(status.partition("VmHWM:")[2].split()[0], file=sys.stderr)
"""
SMALL, LARGE = 10_000, 50_000
#: The difference of the two, by job.
MAX_BYTES_OF_A_JOB = 900


def times(seconds):
    return np.datetime_as_string(np.datetime64("2026-01-01T00:00:00") + seconds.astype("m8[s]"))


def elapsed(seconds):
    return [f"{s // 86400}-{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}" for s in seconds]


def write_log(path, count):
    """Jobs of one node, 16 cores on average; a tenth have a GPU, a tenth are tasks of arrays."""
    random = np.random.default_rng(1)
    submit = np.cumsum(random.integers(0, 60, count))
    start = submit + random.integers(0, 20_000, count)
    run = random.integers(1, 6_000, count)
    columns = zip(
        range(count), times(submit), times(start), times(start + run), elapsed(run),
        elapsed(2 * run), random.integers(1, 33, count), random.integers(0, 200, count),
        random.integers(1, 129, count), random.integers(1, 201, count), random.random(count),
        strict=True,
    )  # fmt: skip
    with path.open("w") as file:
        file.write(HEADER + "\n")
        for job, sent, began, ended, ran, limit, cores, user, memory, node, share in columns:
            number = f"{job}_1" if share < 0.1 else job
            gpus = "gres/gpu:a100=1,gres/gpu=1," if share > 0.9 else ""
            tres = f"billing={cores},cpu={cores},{gpus}mem={memory}G,node=1"
            host = f"g{node % 20 + 1}" if gpus else f"n{node}"
            file.write(
                f"{number}|run|u{user}|a{user % 9}|main|COMPLETED|{sent}|{sent}|{began}|{ended}|"
                f"{ran}|{limit}|1|{cores}|{memory}G|{tres}|{host}\n"
            )


def peak_of_audit(folder, count):
    """Bytes."""
    log, machine = folder / f"sacct{count}.txt", folder / "machine.toml"
    write_log(log, count)
    machine.write_text(MACHINE)
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, "audit", log, "--machine", machine, "-o",
         folder / f"audit{count}.html"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return 1024 * int(done.stderr.split()[-1])


def test_an_audit_takes_few_bytes_for_each_job(tmp_path):
    growth = peak_of_audit(tmp_path, LARGE) - peak_of_audit(tmp_path, SMALL)
    bytes_of_a_job = growth / (LARGE - SMALL)
    assert bytes_of_a_job < MAX_BYTES_OF_A_JOB
