"""The records that cross the border to the simulator: unknown fields, wrong values, copies."""

from __future__ import annotations

import pickle

import pytest

import cosched as cs
from cosched import _core
from cosched.slurm.twin.host_clocks import HOST

core = _core.slurm
#: A class of records, a misspelt field, and the field that the message proposes.
MISSPELT_FIELDS = [
    (core.Job, "memroy", "memory"),
    (core.Job, "licenses", "licences"),
    (core.JobColumns, "sumbit", "submit"),
    (core.Machine, "node_core", "node_cores"),
    (core.Partition, "max_tiem", "max_time"),
    (core.Reservation, "is_maintainance", "is_maintenance"),
    (core.AdminEvent, "node", "nodes"),
    (core.Association, "share", "shares"),
    (core.Limits, "limit", "limits"),
    (core.Limit, "valeu", "value"),
    (core.Qos, "grase_time", "grace_time"),
    (core.Settings, "bf_intervall", "bf_interval"),
    (core.Clocks, "tick_perod", "tick_period"),
    (core.Slice, "endtime", "end_time"),
    (core.Arrivals, "template", "template_job"),
    (core.Share, "core", "cores"),
    (core.GpuShare, "typ", "type"),
    (core.RunningState, "strat", "start"),
    (core.QueueState, "prioritys", "priority"),
    (core.RecordedRun, "share", "shares"),
    (core.Dependency, "job", "jobs"),
    (core.Outcome, "starts", "start"),
    (core.DecisionNote, "tiem", "time"),
    (core.ReplicationTable, "start_time", "start_times"),
    (core.LimitBlock, "reasons", "reason"),
    (core.Sample, "factor", "factors"),
]


def test_each_class_of_records_has_a_misspelt_field_here():
    record_classes = {
        value for value in vars(core).values()
        if isinstance(value, type) and hasattr(value, "replace")
    }  # fmt: skip
    assert record_classes == {record_class for record_class, *_ in MISSPELT_FIELDS}


@pytest.mark.parametrize(("record_class", "misspelt", "field"), MISSPELT_FIELDS)
def test_a_misspelt_field_is_refused_with_the_nearest_one(record_class, misspelt, field):
    message = f"slurm: {record_class.__name__} has no field '{misspelt}': did you mean '{field}'"
    with pytest.raises(cs.InvalidInstance, match=message):
        record_class(**{misspelt: 1})


def test_a_field_that_resembles_none_is_refused_with_all_fields():
    with pytest.raises(cs.InvalidInstance, match="expected one of time, kind, job, nodes"):
        core.AdminEvent(wxyz=1)


def test_replace_refuses_a_misspelt_field():
    with pytest.raises(cs.InvalidInstance, match="no field 'memroy': did you mean 'memory'"):
        core.Job().replace(memroy=3)


def test_a_required_field_that_is_missing_is_named():
    with pytest.raises(cs.InvalidInstance, match="slurm: Share without 'cores'"):
        core.Share(node=1)


def test_a_value_of_another_type_is_refused_with_its_place():
    with pytest.raises(cs.InvalidInstance, match="slurm: Job: memory = 'much': expected int"):
        core.Job(memory="much")


def test_fields_are_read_only():
    job = core.Job(memory=3)
    with pytest.raises(AttributeError):
        job.memory = 4
    with pytest.raises(AttributeError):
        job.memroy = 4
    assert job.memory == 3


def test_replace_changes_a_copy():
    job = core.Job(memory=3, partitions=[1, 2])
    changed_job = job.replace(memory=4)
    assert (job.memory, changed_job.memory, changed_job.partitions) == (3, 4, [1, 2])


def test_records_are_equal_by_their_fields():
    assert core.Share(node=1, cores=2) == core.Share(node=1, cores=2, memory=0)
    assert core.Share(node=1, cores=2) != core.Share(node=1, cores=3)
    assert core.Share(node=1, cores=2) != "a share"


def test_the_text_of_a_record_names_its_fields():
    assert repr(core.Share(node=1, cores=2)) == "Share(node=1, cores=2, memory=0)"


@pytest.mark.parametrize(
    "record",
    [
        core.Job(nodes=2, dependencies=[core.Dependency(kind=core.DependencyKind.after, jobs=[1])]),
        core.Qos(limits=core.Limits(limits=[core.Limit(name="GrpJobs", value=3)])),
        core.AdminEvent(time=1.0, kind=core.AdminEventKind.drain, nodes=[(0, 2)]),
        core.Settings(bf_interval=7),
    ],
)
def test_records_are_pickled(record):
    assert pickle.loads(pickle.dumps(record)) == record


def test_parameters_without_a_value_are_none():
    settings = core.Settings(bf_interval=7)
    assert (settings.bf_interval, settings.bf_window) == (7.0, None)


def test_clocks_take_the_host_and_recorded_times():
    clocks = core.Clocks(**HOST, controller_start=-20.0, epoch=0.0, cycle_times=[1.0, 31.0])
    assert clocks.cycle_times == [1.0, 31.0]
    assert clocks.run_lengths == []
