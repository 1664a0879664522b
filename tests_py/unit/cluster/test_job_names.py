"""Jobs whose names differ in every run are grouped by what does not differ."""

import numpy as np
import pytest
from note_facts import counts
from right_size_log import log

import cosched as cs
from cosched import NoteKind
from cosched.cluster.instance.job_names import kinds_of_comments, kinds_of_jobs, rules_of_comments
from cosched.cluster.sizing.exports import export

UUIDS = [f"fb315e06-46eb-480f-ae1d-c3d14c69{k:04x}" for k in range(0x1000, 0x1000 + 200)]


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (["fb315e06-46eb-480f-ae1d-c3d14c698bea"], ["#"]),
        (["FB315E06-46EB-480F-AE1D-C3D14C698BEA.sh"], ["#.sh"]),
        (["job_fb315e0646eb480fae1dc3d14c698bea"], ["job_#"]),
        (["align-3f9a2c", "deadbeef", "decade"], ["align-#", "deadbeef", "decade"]),
        (["run7", "a12b"], ["run#", "a#b"]),
        (["nf-ALIGN_(s7)", "nf-ALIGN (x)"], ["nf-ALIGN", "nf-ALIGN "]),
        (["snakejob.map.12.sh"], ["snakejob.map.#.sh"]),
        (["train-kqz", "train-pma", "train-qqw", "train-ppz", "train-abx"], ["train-#"] * 5),
        (["train-kqz", "train-pma", "sort-qqw"], ["train-kqz", "train-pma", "sort-qqw"]),
        (["12", "7", "7"], ["12", "7", "7"]),  # programs of a log in SWF
        (["101", "102", "103", "104", "105"], ["#"] * 5),
        (["", "größe"], ["", "größe"]),
    ],
)
def test_the_part_that_differs_is_removed(names, kinds):
    assert kinds_of_jobs(np.array(names)).kinds.tolist() == kinds


def test_words_that_several_jobs_have_stay_though_one_name_has_them():
    names = [f"train-{user}" for user in ("alice", "bob", "cyn", "dan", "eve") for _ in range(9)]
    assert set(kinds_of_jobs(np.array(names)).kinds) == set(names)


def test_rules_of_snakemake():
    comments = ["rule_map_reads_wildcards_s1", "rule_trim__wildcards_s0", "rule_all", "urgent", ""]
    assert rules_of_comments(np.array(comments)).tolist() == ["map_reads", "trim", "all", "", ""]
    assert kinds_of_comments(np.array(comments)).tolist() == [
        "map_reads", "trim", "all", "urgent", ""
    ]  # fmt: skip


def of_snakemake(comments):
    """Rule a runs 1 minute, rule b an hour, all under the UUID of their run."""
    runtime = np.where(np.arange(200) % 2, 3600.0, 60.0)
    return log(job_name=UUIDS, comment=comments, runtime=runtime)


def test_jobs_that_are_called_by_a_uuid_are_grouped_by_the_rule_in_their_comment():
    inst = of_snakemake([f"rule_{'ab'[k % 2]}_wildcards_{k}" for k in range(200)])
    recommendation = cs.cluster.rightsize(inst, 0.1)
    assert recommendation.advice.set_index("name")["limit"].to_dict() == {"a": 900.0, "b": 3600.0}
    assert counts(recommendation.notes, NoteKind.ASSUMED) == {"JobName": 200}
    by_comment = cs.cluster.rightsize(inst, 0.1, by="comment")
    assert by_comment.advice.set_index("comment")["limit"].to_dict() == {"a": 900.0, "b": 3600.0}
    assert "  a:  # 100 jobs\n" in export(recommendation.advice, "snakemake", 0.1)
    assert (
        recommendation.amounts(inst)[0].tolist()
        == np.where(np.arange(200) % 2, 3600.0, 900.0).tolist()
    )
    table = cs.cluster.solve(inst, "FCFS").by("name")
    assert table[["name", "jobs"]].to_numpy().tolist() == [["a", 100], ["b", 100]]


@pytest.mark.parametrize("form", ["snakemake", "nextflow", "sbatch"])
def test_nothing_is_exported_under_a_name_that_differs_in_every_run(form):
    recommendation = cs.cluster.rightsize(of_snakemake([""] * 200), 0.1)
    assert counts(recommendation.notes, NoteKind.UNKNOWN) == {"JobName": 200}
    assert recommendation.advice["limit"][0] > 0
    text = export(recommendation.advice, form, 0.1)
    assert "200 jobs left out, whose names differ in every run" in text
    assert "mem_mb" not in text
    assert "withName" not in text
    assert "#SBATCH" not in text


RULES_IN_COMMENTS = {
    "snakemake": ["set-resources:", "  a:  # 100 jobs", "    runtime: 15", "  b:  # 100 jobs"],
    "nextflow": ["  withName: 'a' {  // 100 jobs", "    time = '15 min'", "  withName: 'b' {"],
    "sbatch": ["# a; 100 jobs", "#SBATCH --time=0:15:00", "# b; 100 jobs"],
}


@pytest.mark.parametrize("form", RULES_IN_COMMENTS)
def test_advice_by_comment_is_exported_by_comment(form):
    inst = of_snakemake([f"rule_{'ab'[k % 2]}_wildcards_{k}" for k in range(200)])
    text = export(cs.cluster.rightsize(inst, 0.1, by="comment").advice, form, 0.1)
    assert all(line in text for line in RULES_IN_COMMENTS[form]), text
    empty = of_snakemake(["rule_a", ""] * 100)
    text = export(cs.cluster.rightsize(empty, 0.1, by="comment").advice, form, 0.1)
    assert "100 jobs left out, whose Comment is empty or differs in every run" in text


DEFAULTS = {
    "snakemake": [
        "# enough for the jobs of {} x; 100 jobs",
        "default-resources:\n",
        "  runtime: 60",
    ],
    "nextflow": [
        "// enough for the jobs of {} x; 100 jobs",
        "process {{\n",
        "  time = '60 min'\n}}",
    ],
    "sbatch": ["# {} x; 100 jobs", "#SBATCH --time=0:15:00", "# {} y; 100 jobs"],
}


@pytest.mark.parametrize("form", DEFAULTS)
@pytest.mark.parametrize("what", ["account", "qos", "partition", "group", "user"])
def test_advice_of_groups_without_steps_is_a_default_for_all_steps(form, what):
    """The largest of all groups; of groups without advice nothing."""
    runtime = np.where(np.arange(200) % 2, 3600.0, 60.0)
    inst = log(runtime=runtime, **{what: ["x", "y"] * 100})
    advice = cs.cluster.rightsize(inst, 0.1, by=what).advice
    text = export(advice, form, 0.1)
    assert all(line.format(what) in text for line in DEFAULTS[form]), text
    if form != "sbatch":
        advice.loc[0, ["limit", "node_memory_gb"]] = np.nan
        assert "no default is enough for all" in export(advice, form, 0.1)


@pytest.mark.parametrize("what", ["account", "qos", "comment", "cores", "name", "user"])
def test_results_and_advice_have_the_same_groups(what):
    columns = {"account": ["x", "y"] * 100, "qos": ["high"] * 200, "comment": ["one", "two"] * 100}
    inst = log(**columns)
    advice_table = cs.cluster.rightsize(inst, 0.1, by=what).advice
    table = cs.cluster.solve(inst, "FCFS").by(what)
    assert dict(zip(advice_table[what], advice_table["jobs"], strict=True)) == dict(
        zip(table[what], table["jobs"], strict=True)
    )
