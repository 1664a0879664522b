"""Traces of runtime systems: StarPU's tasks.rec read and judged, schedules written as Paje."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.dags import Instance

RECORDED = Path(__file__).parents[2] / "fixtures" / "starpu"
TASKS, MODELS = RECORDED / "tasks.rec", RECORDED / "perfs.rec"
CHOLESKY = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (2, 5), (3, 6), (4, 7), (5, 8), (6, 7), (7, 8),
            (8, 9)]  # fmt: skip


def written(tmp_path, text, name="tasks.rec"):
    path = tmp_path / name
    path.write_text(text)
    return path


def task(job, *after, start=0.0, end=1.0, worker=0, node=0, **extra_fields):
    fields = {
        "Name": "gemm",
        "JobId": job,
        "DependsOn": " ".join(map(str, after)),
        "Footprint": "a1",
    }
    if worker is not None:
        fields |= {"WorkerId": worker, "MemoryNode": node, "StartTime": start, "EndTime": end}
    lines = [f"{key}: {value}" for key, value in (fields | extra_fields).items() if value != ""]
    return "\n".join(lines) + "\n\n"


# --- the recorded run ------------------------------------------------------------------------


def test_a_run_of_starpu_is_read_judged_and_compared():
    inst = Instance.read(TASKS, perfmodels=MODELS)
    assert inst.units == (2, 1)
    assert [tuple(edge) for edge in inst.edges.tolist()] == CHOLESKY
    assert inst.kernels[:3] == ("chol_model_11", "chol_model_21", "chol_model_21")
    assert inst.executed.kind.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    # Models of the file in seconds; what ran on the GPU took what its model says.
    assert inst.times[0].tolist() == pytest.approx([18849.69e-6, 5366.74e-6])
    assert inst.times[5, 1] == pytest.approx(2.815491e-3)
    run = cs.dags.solve(inst, "as-executed")
    run.schedule.validate()
    assert run.value == pytest.approx(0.31111928, abs=1e-6)  # StarPU's program prints 312 ms
    # StarPU's own bound of this run is 30 ms: the area; the path makes it longer.
    assert round(cs.dags.bound(inst, "area").value * 1e3) == 30
    table = cs.dags.compare(inst, ["as-executed", "hlp-best", "heft"])
    assert table.status.tolist() == ["ok"] * 3
    assert table.gap[0] > 5 > 0.01 > table.gap[1]
    assert cs.dags.FAMILY.names_of(inst, None)[0] == "as-executed"


def test_without_models_times_elsewhere_are_those_of_like_tasks():
    inst = Instance.read(TASKS)
    full = Instance.read(TASKS, perfmodels=MODELS)
    assert inst.units == (2, 1)
    assert np.array_equal(inst.executed.start, full.executed.start)
    own_kinds = np.arange(10), inst.executed.kind
    assert np.array_equal(inst.times[own_kinds], full.times[own_kinds])
    gemm_on_gpu = inst.times[5, 1]
    assert inst.times[3, 1] == gemm_on_gpu
    assert np.isinf(inst.times[1, 1])  # no trsm ran on the GPU
    assert counts(inst.notes, NoteKind.ASSUMED)["unknown times"] == 3


def test_the_command_line_compares_and_draws_a_trace(tmp_path, capsys):
    command = ["compare", "dags", str(TASKS), "--perfmodels", str(MODELS)]
    assert main([*command, "--algorithms", "heft", "as-executed"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if re.search("heft|exec", line)]
    assert "as-executed" in rows[0]
    assert "heft" in rows[1]
    out = tmp_path / "run.paje"
    command = ["solve", "dags", str(TASKS), "--algorithm", "as-executed", "-o", str(out)]
    assert main([*command, "--plot", str(tmp_path / "run.png")]) == 0
    assert len(states(out.read_text())) == 10


def test_a_run_survives_files_pickle_and_larger_machines(tmp_path):
    inst = Instance.read(TASKS, perfmodels=MODELS)
    assert pickle.loads(pickle.dumps(inst)) == inst
    inst.write(tmp_path / "run.json")
    assert Instance.read(tmp_path / "run.json") == inst
    assert Instance.read(tmp_path / "run.json", units=(4, 4)).executed is not None
    assert inst.with_units((1, 1)).executed is None
    assert inst.with_units((1, 1)) != inst
    read = Instance.read(TASKS, times={name: [1.0, 2.0] for name in inst.names}, units=(2, 1))
    assert read.executed is None
    assert has_note(read.notes, NoteKind.NOT_USED, "run")


def test_data_move_from_the_last_writer():
    inst = Instance.read(TASKS, perfmodels=MODELS, bandwidth=1e12)
    assert inst.data.tolist() == [960 * 960 * 4] * len(CHOLESKY)
    assert cs.dags.solve(inst, "as-executed").value > 0.3
    slow = Instance.read(TASKS, perfmodels=MODELS, bandwidth=1e6)
    with pytest.raises(cs.InvalidInstance, match="the recorded run breaks the model"):
        cs.dags.solve(slow, "as-executed")
    status = cs.dags.compare(slow, ["as-executed", "heft"]).status
    assert status.tolist() == ["not_applicable", "ok"]


# --- small traces ----------------------------------------------------------------------------


def test_tasks_without_a_worker_pass_their_dependencies_on(tmp_path):
    text = (
        task(1, end=2.0)
        + "Control: WontUse\nJobId: 9\nHandles: ff\n\n"
        + task(2, 1, worker=None)
        + task(3, 2, worker=None)
        + task(4, 3, 77, start=3.0, end=5.0, worker=1, node=1)
    )
    inst = Instance.read(written(tmp_path, text))
    assert inst.names == ("1", "4")
    assert inst.edges.tolist() == [[0, 1]]
    assert inst.times.tolist() == pytest.approx(np.array([[2e-3, 2e-3], [2e-3, 2e-3]]))
    assert cs.dags.as_executed(inst).value == pytest.approx(5e-3)
    dropped = counts(inst.notes, NoteKind.DROPPED)
    assert dropped == {"tasks that no worker ran": 2, "dependencies on missing tasks": 1}


def test_estimates_of_every_worker_are_times_of_types(tmp_path):
    estimates = {"EstimatedTime": "9e3 1e3 3e3"}  # us; worker 0 is a CPU
    text = (
        task(1, end=8.0, **estimates)
        + task(2, start=8.0, end=9.5, worker=1, node=1, **estimates)
        + task(3, start=8.0, end=10.0, worker=2, node=2, **{"EstimatedTime": "inf inf inf"})
    )
    inst = Instance.read(written(tmp_path, text))
    assert inst.units == (1, 2)
    assert inst.times.tolist() == pytest.approx(
        np.array([[8e-3, 2e-3], [9e-3, 1.5e-3], [8e-3, 2e-3]])
    )


def test_modes_may_be_empty(tmp_path):
    text = task(1, end=1.0, Handles="a b", Modes="W R", Sizes="8 16") + task(
        2, 1, start=1.0, end=2.0, Handles="b a", Modes=" R", Sizes="16 8"
    )
    assert Instance.read(written(tmp_path, text), bandwidth=1.0).data.tolist() == [8.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no task with WorkerId"),
        (task(1, worker=None), "no task with WorkerId"),
        ("Name: gemm\n\n", "line 1: no JobId"),
        ("E: 3\nnonsense\n", "line 2: 'nonsense': expected Key: value"),
        ("JobId: 1\nJobId: 2\n", "line 2: 'JobId' is there twice"),
        (task(1) + task(1), "line 9: JobId '1' is there twice"),
        (task(1, end="-3"), "line 1: EndTime: '-3': expected milliseconds >= 0"),
        (task(1, start=5), "EndTime 1 is before StartTime 5"),
        (task(1, worker="a"), "WorkerId: 'a'"),
        (task(1, Footprint="xyz"), "Footprint: 'xyz': expected hexadecimal digits"),
        (task(1, Handles="a", Modes="R", Sizes="1 2"), "1 Handles, 1 Modes, 2 Sizes"),
        (task(1, EstimatedTime="soon"), "EstimatedTime: 'soon'"),
        (task(1, 2) + task(2, 1), "cycle"),
        (task(1, MPIRank=0) + task(2, MPIRank=1), "2 MPI ranks"),
    ],
)
def test_a_bad_trace_gets_one_clear_line(tmp_path, text, expected):
    path = written(tmp_path, text)
    with pytest.raises(cs.InvalidInstance, match=re.escape(expected)) as caught:
        Instance.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_models_get_one_clear_line(tmp_path, capsys):
    trace = written(tmp_path, task(1))
    for text, expected in (
        ("%rec: timing\n\nModel: a\n", "line 3: no Architecture"),
        ("%rec: timing\n\n", "no workers: expected what starpu_perfmodel_recdump writes"),
        ("%rec: memory_workers\n\nName: 7\nWorkers: 0\n", "Name '7': expected a memory node"),
        ("%rec: memory_workers\n\nName: RAM\nWorkers: 4\n", "WorkerId 0: not among the workers of"),
    ):
        models = written(tmp_path, text, "perfs.rec")
        with pytest.raises(cs.InvalidInstance, match=re.escape(expected)):
            Instance.read(trace, perfmodels=models)
    dot = written(tmp_path, "digraph { a [time=1] }", "a.dot")
    with pytest.raises(cs.InvalidInstance, match=r"perfmodels: expected a tasks.rec of StarPU"):
        Instance.read(dot, units=(1,), perfmodels=MODELS)
    assert main(["solve", "dags", str(trace), "--algorithm", "as-executed", "--units", "1"]) == 0
    assert main(["solve", "dags", str(dot), "--algorithm", "as-executed", "--units", "1"]) == 2
    assert "no run was recorded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"kind": [0]}, "expected columns kind, unit, start, end"),
        ({"kind": [0], "unit": [0], "start": [0.0], "end": [1.0, 2.0]}, "end has 2 entries"),
        ({"kind": [1], "unit": [0], "start": [0.0], "end": [1.0]}, "kind"),
        ({"kind": [0], "unit": [2], "start": [0.0], "end": [1.0]}, "unit[0] = 2: type 0 has 2"),
        ({"kind": [0], "unit": [0], "start": [2.0], "end": [1.0]}, "runs from 2 to 1"),
        ([0, 1], "expected columns"),
    ],
)
def test_a_run_is_checked_against_the_machine(run, expected):
    with pytest.raises(cs.InvalidInstance, match=re.escape(expected)):
        Instance([[1.0]], [], (2,), executed=run)


def test_a_run_that_overlaps_is_no_schedule():
    run = {"kind": [0, 0], "unit": [0, 0], "start": [0.0, 0.5], "end": [1.0, 1.5]}
    inst = Instance([[1.0], [1.0]], [], (1,), executed=run)
    with pytest.raises(cs.InvalidInstance, match="overlap on unit 0"):
        cs.dags.as_executed(inst)


# --- PaRSEC ----------------------------------------------------------------------------------

#: As the grapher of PaRSEC prints it (profiling off, memory mode 1).
PARSEC = """digraph G {
potrf_1_0 [shape="polygon",style=filled,fillcolor="#D4C9B2",label="<0/0> potrf(0)<2>{1}",\
tooltip="tpid=1:tname=potrf:tid=0"];
dc0x55_0 [label="A(0,0)",shape="circle"]
dc0x55_0 -> potrf_1_0 [label="T"]
potrf_1_0 -> trsm_1_1_0 [label="T=>T",color="#00FF00",style="dashed"]
potrf_1_0 -> trsm_1_2_0 [label="T=>T",color="#FF0000",style="dashed"]
trsm_1_1_0 [shape="polygon",label="<1/0> trsm(1,0)<1>{1}",tooltip="tpid=1:did=4:tname=trsm:tid=1"];
trsm_1_2_0 [shape="polygon",label="<0/0> trsm(2,0)<1>{1}",tooltip="tpid=1:did=4:tname=trsm:tid=2"];
}
"""


def test_a_graph_of_parsec_takes_the_times_of_its_kernels(tmp_path):
    path = written(tmp_path, PARSEC, "cholesky.dot")
    times = written(tmp_path, "id,t0,t1\npotrf,4,2\ntrsm,6,1\ntrsm_1_2_0,7,\n", "times.csv")
    inst = Instance.read(path, units=(2, 1), times=times)
    assert inst.names == ("potrf_1_0", "trsm_1_1_0", "trsm_1_2_0")
    assert inst.kernels == ("potrf", "trsm", "trsm")
    assert inst.edges.tolist() == [[0, 1], [0, 2]]
    assert inst.times.tolist() == [[4, 2], [6, 1], [7, np.inf]]
    assert counts(inst.notes, NoteKind.DROPPED) == {"data of PaRSEC": 1}
    with pytest.raises(cs.InvalidInstance, match="no times of task 'potrf_1_0'"):
        Instance.read(path, units=(2, 1), times={"trsm": [1.0, 2.0]})
    with pytest.raises(cs.InvalidInstance, match="has no task 'gemm'"):
        Instance.read(path, units=(1,), times={"trsm": [1.0], "potrf": [1.0], "gemm": [1.0]})
    with pytest.raises(cs.InvalidInstance, match="no time: expected attributes"):
        Instance.read(path, units=(2, 1))


# --- Paje ------------------------------------------------------------------------------------


def parsed(text):
    """A strict reader: fields as the header declares them, each text quoted or bare."""
    events, fields, rows = {}, [], []
    for line in text.splitlines():
        if line.startswith("%EventDef"):
            _, name, number = line.split()
            fields = events[number] = [("event", "string")]
            fields[0] = (name, "string")
        elif line.startswith("%EndEventDef"):
            fields = None
        elif line.startswith("%"):
            field, kind = line[1:].split()
            fields.append((field, kind))
        else:
            cells = re.findall(r'"([^"]*)"|(\S+)', line)
            values = [quoted or bare for quoted, bare in cells]
            header = events[values[0]]
            assert len(values) == len(header), line
            row = {"event": header[0][0]}
            for (field, kind), value in zip(header[1:], values[1:], strict=True):
                row[field] = float(value) if kind == "date" else value
            rows.append(row)
    return rows


def states(text):
    """(container, begin, end, value, task) of every state; nothing overlaps, nothing stays open."""
    rows = parsed(text)
    names = {row["Alias"]: row["Name"] for row in rows if "Alias" in row}
    living, open_, states_of_run, now = set(), {}, [], 0.0
    for row in rows:
        if "Time" in row:
            assert row["Time"] >= now
            now = row["Time"]
        if row["event"] == "PajeCreateContainer":
            assert row["Container"] == "0" or row["Container"] in living
            living.add(row["Alias"])
        elif row["event"] == "PajeDestroyContainer":
            living.remove(row["Name"])
        elif row["event"] == "PajePushState":
            assert row["Container"] in living
            assert row["Container"] not in open_
            open_[row["Container"]] = (now, row["Value"], row["Task"])
        elif row["event"] == "PajePopState":
            begin, value, task = open_.pop(row["Container"])
            states_of_run.append((names[row["Container"]], begin, now, names[value], task))
    assert not open_
    assert not living
    return states_of_run


def test_a_paje_trace_holds_the_schedule(tmp_path):
    inst = cs.workloads.cholesky(5, units=(3, 2))
    schedule = cs.dags.heft(inst).schedule
    schedule.write(tmp_path / "plan.paje")
    expected = [
        (f"{inst.kind_names[row.kind]} {row.units[0]}", row.start, row.end,
         inst.kernels[row.task], inst.names[row.task])
        for row in schedule.to_frame().itertuples()
    ]  # fmt: skip
    assert sorted(states((tmp_path / "plan.paje").read_text())) == sorted(expected)


def test_schedules_of_other_families_are_traces_too(tmp_path):
    path = tmp_path / "plan.paje"
    packs = cs.packs.solve(cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]]), "sequential")
    packs.schedule.write(path)
    assert [row[0] for row in sorted(states(path.read_text()))] == ["processor 0"] * 2 + [
        "processor 1"
    ] * 2
    moldable = cs.moldable.Instance([[4.0, 2.0], [3.0, 2.0]], [1.0, 1.0])
    cs.moldable.solve(moldable, "demt").schedule.write(path)
    assert len(states(path.read_text())) >= 2
    with pytest.raises(cs.InvalidInstance, match=r"expected a name that ends in \.paje"):
        packs.schedule.write(tmp_path / "plan.txt")


def test_units_that_tasks_share_are_no_paje_trace(tmp_path):
    inst = Instance([[2.0], [2.0]], [], (1,))
    both = cs.core.Schedule(inst, [0, 1], [0, 0], [0, 1, 2], [0, 0], [0.0, 1.0], [2.0, 3.0])
    with pytest.raises(cs.InvalidSchedule, match=r"tasks 0 and 1 share unit 0\.0 from 1 s on"):
        both.write(tmp_path / "plan.paje")
    assert not (tmp_path / "plan.paje").exists()


def test_texts_in_a_paje_trace_need_no_escape(tmp_path):
    inst = Instance([[1.0], [1.0]], [], (1,), names=['say "hi"', "two\nlines"])
    cs.dags.heft(inst).schedule.write(tmp_path / "plan.paje")
    names = [row[4] for row in states((tmp_path / "plan.paje").read_text())]
    assert names[0] == "say 'hi'"
    assert "\n" not in names[1]
