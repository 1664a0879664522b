"""Host lists and parameters of a slurm.conf."""

import tracemalloc

import pytest

import cosched as cs
from cosched.cluster.machine.node_types import MOST_HOSTS, hosts
from cosched.errors import InvalidInstance


def test_host_lists():
    assert hosts("n[1-3,07],gpu[01-02]x[1,2]y,plain", "slurm.conf:1") == [
        *("n1", "n2", "n3", "n07"),
        *("gpu01x1y", "gpu01x2y", "gpu02x1y", "gpu02x2y", "plain"),
    ]
    assert len(hosts(f"n[1-{MOST_HOSTS}]", "")) == MOST_HOSTS
    assert len(hosts("n[0-99][0-99][0-99]", "")) == MOST_HOSTS


@pytest.mark.parametrize(
    "text",
    [
        "n[0-99][0-99][0-99][0-99]",
        "n[0-99999999]",
        f"n[0-{MOST_HOSTS}]",
        "n" + 40 * "[0-999999]",
        f"n[{','.join(400 * ['0-999999'])}]",
        ",".join(400 * ["n[0-999999]"]),
        f"n[1-{MOST_HOSTS}],m",
    ],
    ids=lambda text: text[:30],
)
def test_hosts_are_counted_before_they_are_named(text):
    tracemalloc.start()
    with pytest.raises(InvalidInstance, match=f"slurm.conf:7: more than {MOST_HOSTS} hosts"):
        hosts(text, "slurm.conf:7")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize("text", ["", ",", "n[", "n]", "n[]", "n[3-1]", "n[a]", "n[1-]", "n[1[2]]"])
def test_what_is_no_host_list(text):
    with pytest.raises(InvalidInstance, match="expected hosts such as"):
        hosts(text, "slurm.conf:7")


@pytest.mark.parametrize("key", ["CPUs", "RealMemory", "Weight"])
def test_what_no_node_has_is_refused(key, tmp_path):
    """It came through to the core, which has no such numbers."""
    path = tmp_path / "slurm.conf"
    path.write_text(f"NodeName=n[1-2] {key}=18446744073709551616\nPartitionName=a Nodes=ALL\n")
    with pytest.raises(cs.InvalidInstance, match=rf"conf:1: {key}='1844.* expected at most"):
        cs.cluster.Machine.read(path)


def test_a_partition_that_is_shown_without_its_name_is_refused(tmp_path):
    for name, text in (
        ("config", ""),
        ("node", "NodeName=n1 CPUTot=1"),
        ("partition", "PartitionName=(null)"),
    ):
        (tmp_path / f"scontrol_{name}.txt").write_text(text)
    with pytest.raises(cs.InvalidInstance, match=r"partition\.txt:1: PartitionName: "):
        cs.cluster.Machine.read(tmp_path)


def test_of_a_parameter_given_twice_the_first_counts(tmp_path):
    path = tmp_path / "slurm.conf"
    parameters = (
        "bf_interval=30,bf_window=60,bf_interval=600,BF_WINDOW=90,bf_continue,bf_interval=-1"
    )
    path.write_text(f"NodeName=n1\nPartitionName=a Nodes=ALL\nSchedulerParameters={parameters}\n")
    read = cs.cluster.Machine.read(path).slurm.parameters
    assert (read["bf_interval"], read["bf_window"], "builtin" in read) == (30, 3600, False)


@pytest.mark.parametrize(
    ("words", "interval", "note"),
    [
        ("bf_interval=60s", 60, "bf_interval=60s (no whole number: Slurm reads 60)"),
        ("bf_interval=60;bf_window=9", 60, "(no whole number: Slurm reads 60)"),
        ("bf_interval=soon", None, "bf_interval=soon (no number: Slurm takes its default, 30)"),
        ("bf_interval", None, "bf_interval (no number: Slurm takes its default, 30)"),
        ("bf_interval=0,bf_interval=60", None, "outside 1..10800: Slurm takes its default, 30"),
        ("bf_interval=60", 60, ""),
    ],
)
def test_numbers_of_scheduler_parameters_are_read_as_slurm_reads_them(
    tmp_path, words, interval, note
):
    path = tmp_path / "slurm.conf"
    path.write_text(f"NodeName=n1\nPartitionName=a Nodes=ALL\nSchedulerParameters={words}\n")
    settings = cs.cluster.Machine.read(path).slurm
    assert settings.parameters.get("bf_interval") == interval
    texts = [text for text in settings.notes if "bf_interval" in text]
    assert (not texts) if not note else (len(texts) == 1 and note in texts[0])


def test_the_older_name_of_a_scheduler_parameter_counts_where_the_new_one_is_missing(tmp_path):
    path = tmp_path / "slurm.conf"
    for words in ("max_job_bf=9", "max_job_bf=20,bf_max_job_test=9"):
        path.write_text(f"NodeName=n1\nPartitionName=a Nodes=ALL\nSchedulerParameters={words}\n")
        settings = cs.cluster.Machine.read(path).slurm
        assert settings.parameters["bf_max_job_test"] == 9
        assert not settings.refused


def test_two_lines_of_one_partition_are_refused_with_both_places(tmp_path):
    file = tmp_path / "slurm.conf"
    file.write_text(
        "NodeName=n[1-4] CPUs=1\nPartitionName=p Nodes=ALL MaxTime=60\nPartitionName=p MaxTime=30\n"
    )
    with pytest.raises(cs.InvalidInstance, match=r"slurm\.conf:3: partition 'p' .*slurm\.conf:2"):
        cs.cluster.Machine.read(file)
