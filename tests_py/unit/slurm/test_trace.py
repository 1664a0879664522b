"""Traces of the simulator of Slurm: the command, the argument ``trace``, and what both say beside
the result of the simulation."""

import json
import math

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.slurm.recordings import host
from cosched.slurm.recordings.agreement import read_recording, simulated_run
from cosched.slurm.trace import TraceSelection
from cosched.slurm.trace.trace_text import CYCLE_ENDS, VERDICTS, lines_of_trace
from support import FIXTURES

RECORDINGS = FIXTURES / "slurm"
RECORDING = RECORDINGS / "pois40_def.json.gz"
#: One recording of each kind of rules: whole nodes, cores, GPUs, arrays, reservations, accounts,
#: preemption, suspension, both versions of Slurm, and one that tells when cycles yield their locks.
VARIETY = ["pois40_def", "cores40_def", "gpu_a", "arr_a_24", "resv_a", "qos_a", "preempt_order",
           "preempt_suspend", "misc_a_24", "deep/deep_stop"]  # fmt: skip
#: Job 0 has two of three nodes for ten minutes; job 1 wants all three; job 2 ends before that.
JOBS = {
    "submit": [0, 5, 10], "tasks": [2, 3, 1], "cpu": [1, 1, 1], "memory": [1, 1, 1],
    "runtime": [600, 60, 60], "estimate": [600, 60, 120],
}  # fmt: skip


def solve(**options):
    instance = cs.cluster.Instance(JOBS, nodes=3)
    return cs.slurm.backfill(instance, controller_start=-100, epoch=0, **options)


def run_command(capsys, *arguments):
    code = main(["slurm", "trace", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_cycle_has_its_queue_tests_reservations_starts_and_node_space():
    trace = solve(trace=3).trace
    (cycle,) = trace.cycles
    assert (cycle.number, cycle.end, trace.passes) == (3, "end_of_queue", ())
    assert [entry.job for entry in cycle.queue] == ["1", "2"]
    first, second = cycle.jobs
    assert (first.verdict, first.begin, first.nodes) == ("reserved", 600, ("n1", "n2", "n3"))
    (test,) = first.tests
    assert (test.from_time, test.begin, test.next) == (first.now, 600, "none")
    assert test.avail_nodes == test.select_nodes == ("n1", "n2", "n3")
    assert math.isinf(test.later_start)
    assert (second.verdict, second.started_job, second.nodes) == ("started", "2", ("n3",))
    assert second.begin == second.now == math.floor(cycle.begin_time)
    assert cycle.starts == (second,)
    assert cycle.reservations == (first,)
    assert [record.nodes for record in cycle.node_space][1:] == [(), ("n1", "n2", "n3")]
    assert [(record.begin, record.end) for record in cycle.node_space][1] == (600, 660)


def test_true_traces_all_cycles_and_passes_and_a_range_some_cycles():
    everything = solve(trace=True).trace
    assert [cycle.number for cycle in everything.cycles] == [*range(1, everything.cycle_count + 1)]
    assert len(everything.passes) > 3
    assert set(starts_of(everything)) == {"0", "1", "2"}
    some_cycles = solve(trace=range(2, 4)).trace
    assert [cycle.number for cycle in some_cycles.cycles] == [2, 3]
    assert some_cycles.cycles == everything.cycles[1:3]
    assert solve().trace is None


@pytest.mark.parametrize("trace", [0, -3, 1.5, "2", range(3, 3), range(5, 1, -1), range(0, 4)])
def test_what_names_no_cycle_is_refused(trace):
    with pytest.raises(cs.InvalidInstance, match="trace = "):
        solve(trace=trace)


def test_with_draws_the_trace_is_of_the_first_schedule():
    result = solve(draws=3, seed=4, trace=True)
    starts = starts_of(result.trace)
    assert {row: time for row, (time, _) in starts.items()} == {
        str(row): start for row, start in enumerate(result.draws.starts[0].tolist())
    }


def starts_of(trace):
    """Job -> the second of its last start, and its nodes."""
    starts_by_job = {}
    steps = [(cycle.begin_time, cycle) for cycle in trace.cycles]
    steps += [(main_pass.time, main_pass) for main_pass in trace.passes]
    for _, step in sorted(steps, key=lambda step: step[0]):
        for job in step.starts:
            starts_by_job[job.started_job] = (job.begin, job.nodes)
    return starts_by_job


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("name", VARIETY)
def test_the_trace_says_what_the_simulation_did_and_changes_nothing(monkeypatch, name, replay):
    monkeypatch.setattr(host, "DRAWS", 2)  # which of the likely simulations it is plays no part
    recording = read_recording(RECORDINGS / f"{name}.json.gz")
    run = recording.runs[0]
    twin, clocks, _ = simulated_run(recording, run, replay=replay)
    recorder = TraceSelection().recorder()
    traced = twin.run(clocks, recorder=recorder)
    silent = twin.run(clocks)
    with_plans = twin.run(clocks, with_plans=True)
    for column in (
        "start_exact", "end_exact", "scheduler", "restarts", "partition", "is_killed",
        "cycle_times", "node_begin", "node", "pause_job", "pause_begin", "pause_end",
    ):  # fmt: skip
        columns = getattr(traced, column), getattr(silent, column)
        assert np.array_equal(*columns, equal_nan=True), column
    trace = twin.trace_names(str).trace(recorder, len(traced.cycle_times), math.nan)
    assert [cycle.begin_time for cycle in trace.cycles] == traced.cycle_times.tolist()
    starts = starts_of(trace)
    simulated = {
        str(row): tuple(twin.trace_names().nodes[node] for node in nodes)
        for row, nodes in enumerate(twin.nodes_of(traced))
        if not math.isnan(traced.start[row])
    }
    assert {row: nodes for row, (_, nodes) in starts.items() if row in simulated} == simulated
    never_ran = set(starts) - set(simulated)  # they had to go for others, and did not come back
    assert all(traced.restarts[int(row)] for row in never_ran)
    if not clocks.start_delays:
        begun = {row: begin for row, (begin, _) in starts.items() if row in simulated}
        assert begun == {row: traced.start[int(row)] for row in simulated}
    planned = sorted(
        (cycle.begin_time, job.job, job.partition, job.begin, job.end)
        for cycle in trace.cycles
        for job in cycle.jobs
        if job.verdict in ("reserved", "node_space_full")
    )
    assert planned == sorted(
        (note.time, str(note.job), twin.partition_names[note.partition], note.start, note.end)
        for note in with_plans.notes
        if note.action.name == "plan"
    )


def test_the_lines_are_in_the_words_of_slurmctld(capsys):
    code, out, _ = run_command(capsys, RECORDING, "--cycle", 12)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("backfill: beginning of cycle 12 at 2026-11-22T01:07:11 (750.478 s)")
    assert "backfill: test for JobId=6 Prio=4294901754 Partition=main" in lines
    assert "backfill: Test JobId=5 at NOW (later_start: 2026-11-22T02:33:00) on n[1-16]" in lines
    assert (
        "backfill: JobId=6 to start at 2026-11-22T02:33:00, end at 2026-11-22T02:59:00 on nodes "
        "n[1-6] in partition main"
    ) in lines
    assert lines.count("=" * 41) == 2
    assert "Begin:2026-11-22T01:51:00 End:2026-11-22T02:33:00 Nodes:n[13-16]" in lines
    assert lines[-1] == ("backfill: reached end of job queue: tested 3 jobs, started 0, reserved 3")


def test_a_job_is_followed_through_cycles_and_passes(capsys):
    code, out, _ = run_command(
        capsys, RECORDING, "--job", 6, "--at", "600-1500", "--passes", "--seconds"
    )
    assert code == 0
    lines = out.splitlines()
    assert not any("JobId" in line and "JobId=6" not in line for line in lines)
    assert any(line.startswith("sched: main pass at ") for line in lines)
    assert not any(line.startswith("Begin:") for line in lines)


def test_json_has_the_records_and_the_file_too(capsys, tmp_path):
    path = tmp_path / "trace.json"
    code, out, _ = run_command(capsys, RECORDING, "--cycle", "11-12", "--json", "-o", path)
    assert code == 0
    data = json.loads(out)
    assert data == json.loads(path.read_text())
    assert [cycle["number"] for cycle in data["cycles"]] == [11, 12]
    test = data["cycles"][1]["jobs"][0]["tests"][0]
    assert test["later_start"] is None
    assert test["avail_nodes"] == [f"n{k}" for k in range(1, 17)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cycle", "1200"], "--cycle 1200: no such cycle: the simulation has 195 cycles"),
        (["--at", "-500"], "--at -500: no such cycle: the simulation has 195 cycles"),
        (["--cycle", "0"], "--cycle: 0: expected an integer in 1.."),
        (["--cycle", "7-3"], "--cycle '7-3': expected the smaller number first"),
        (["--at", "9-3"], "--at '9-3': expected the earlier time first"),
        (["--cycle", "x"], "--cycle: 'x': expected"),
        (["--job", "77"], "no job 77: expected a job of 0 to 39"),
        (["--cycle", "1", "--run", "9"], "--run 9: pois40_def.json.gz has "),
        (["--cycle", "1", "--passes"], "--passes: expected --at"),
        (["--cycle", "1", "--drop", "too-wide"], "--drop is for sacct output"),
        ([], "expected --cycle N"),
    ],
)
def test_what_cannot_be_traced_is_refused_in_one_line(capsys, arguments, message):
    code, out, err = run_command(capsys, RECORDING, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_an_array_wants_a_task(capsys):
    path = RECORDINGS / "arr_a.json.gz"
    array = next(job for job, tasks in read_recording(path).arrays.items() if len(tasks) > 1)
    code, _, err = run_command(capsys, path, "--job", array)
    assert code == 2
    assert f"job {array} is an array: expected one of its tasks, as {array}_" in err


def test_a_log_is_traced_with_its_slurm_conf(capsys, tmp_path):
    log, conf = tmp_path / "sacct.txt", tmp_path / "slurm.conf"
    conf.write_text("NodeName=n[1-2] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n")
    log.write_text(
        "JobIDRaw|Submit|Start|End|Elapsed|AllocNodes|NCPUS|Timelimit|State|Partition\n"
        "11|2026-11-23T10:00:00|2026-11-23T10:00:01|2026-11-23T10:10:01|00:10:00|2|2|00:10:00|COMPLETED|p\n"
        "12|2026-11-23T10:00:05|2026-11-23T10:10:03|2026-11-23T10:11:03|00:01:00|2|2|00:02:00|COMPLETED|p\n"
    )
    code, out, err = run_command(capsys, log, "--machine", conf, "--job", 12)
    assert code == 0, err
    assert "backfill: test for JobId=12" in out
    assert "JobId=12 to start at 6" in out  # seconds: sacct does not tell slurmctld's clock
    code, _, err = run_command(capsys, log, "--machine", conf, "--job", 4711)
    assert code == 2
    assert "--job '4711': no such job is simulated: expected an id of the log, as 11" in err


def test_every_verdict_and_end_has_words():
    core = cs.cluster.result.result._core.slurm
    spoken = {"started", "reserved", "limit", "node_space_full"}
    assert {verdict.name for verdict in core.Verdict} == spoken | set(VERDICTS)
    assert {end.name for end in core.CycleEnd} == set(CYCLE_ENDS)


def test_yields_of_locks_are_lines(monkeypatch):
    monkeypatch.setattr(host, "DRAWS", 2)
    recording = read_recording(RECORDINGS / "deep" / "deep_continue.json.gz")
    run = recording.runs[0]
    twin, clocks, _ = simulated_run(recording, run, replay=True)
    recorder = TraceSelection().recorder()
    outcome = twin.run(clocks, recorder=recorder)
    trace = twin.trace_names(str).trace(recorder, len(outcome.cycle_times), float(run.epoch))
    yields = [each for cycle in trace.cycles for each in cycle.yields]
    assert len(yields) == len(run.yields)
    assert sum("yielded locks" in line for line in lines_of_trace(trace)) == len(yields)
