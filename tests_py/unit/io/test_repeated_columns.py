"""A column that is there twice is refused in all families, and so is a key of JSON."""

import pytest

import cosched as cs
from cosched import io
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.slurm.accounts.accounting_dump import parse_accounts
from cosched.slurm.live.command_outputs import rows
from cosched.slurm.live.job_records import parse_history
from cosched.slurm_lab import read_trace


@pytest.mark.parametrize(
    ("read", "header", "row", "column"),
    [
        (lambda path: cs.packs.Instance.read(path, max_tasks=1),
         "task,processors,seconds,Seconds", "a,1,3,900", "seconds"),
        (lambda path: cs.packs.Instance.read(path, max_tasks=1), "task,1,2,2", "a,9,5,4", "2"),
        (cs.moldable.Instance.read, "task,weight,weight,1,2", "a,1,50,3,2", "weight"),
        (cs.moldable.Instance.read, "task,1,2,note,Note", "a,3,2,x,y", "note"),
        (lambda path: cs.dags.Instance.read("chain.dot", units=(1, 1), times=path),
         "id,t0,T0", "a,3,4", "t0"),
        (lambda path: cs.dags.Instance.read("chain.dot", units=(1, 1), acceleration=path),
         "program,factor,factor", "*,3,4", "factor"),
        (lambda path: cs.dags.Instance.read(path, units=(1,), times={"a": 1, "b": 2}),
         "from,to,to", "a,b,b", "to"),
        (lambda path: cs.cluster.Instance.read(path, nodes=2),
         "submit,tasks,cpu,memory,runtime,user,user", "0,1,1,1,5,x,y", "user"),
        (lambda path: read_trace(path, 4),
         "submit,runtime,limit,nodes,nodes", "0,1,60,1,1", "nodes"),
    ],
)  # fmt: skip
def test_it_is_refused_with_file_line_and_name(tmp_path, monkeypatch, read, header, row, column):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.dot").write_text("digraph { a [time=3]; b [time=4]; a -> b }")
    path = tmp_path / "twice.csv"
    path.write_text(f"{header}\n{row}\n")
    with pytest.raises(InvalidInstance) as error:
        read(path)
    assert f"{path}: line 1: 2 columns '{column}': expected one" in str(error.value)


@pytest.mark.parametrize(
    "command",
    [
        ["solve", "packs", "twice.csv", "--max-tasks", "1"],
        ["solve", "moldable", "twice.csv"],
        ["plan", "twice.csv", "-o", "plan.json"],
        ["batch", "twice.csv", "--nodes", "1", "--time", "1:0:0", "--cores-per-node", "4",
         "-o", "out"],
    ],
)  # fmt: skip
def test_commands_say_it_in_one_line(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("task,processors,seconds,Seconds\na,1,3,900\nb,1,5,900\n")
    assert main(command) == 2
    assert "twice.csv: line 1: 2 columns 'seconds': expected one" in capsys.readouterr().err


def test_columns_without_a_name_may_be_there_twice():
    assert io.parse_csv("task,,\na,1,2\n", "a.csv").header == ["task", "", ""]


def test_a_key_that_is_there_twice_in_json_is_refused(tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text('{"nodes": 2, "jobs": {"submit": [0], "submit": [5]}}')
    with pytest.raises(InvalidInstance, match="the key 'submit' is there twice in an object"):
        cs.cluster.Instance.read(path)


HISTORY = "JobID|User|State|Submit|Start|End|User\n"
TIMES = "COMPLETED|2026-01-05T08:00:00|2026-01-05T08:01:00|2026-01-05T09:00:00"


def test_a_history_that_repeats_a_column_is_taken_where_the_values_are_the_same():
    messages = []
    (job,) = parse_history(f"{HISTORY}1|ann|{TIMES}|ann\n", notes=messages)
    assert job.user == "ann"
    assert messages == ["sacct.txt: column User is there twice, with the same values"]


@pytest.mark.parametrize("header", [HISTORY, HISTORY.replace("|User\n", "|USER\n")])
@pytest.mark.parametrize("bob", ["bob", ""])
def test_else_it_is_refused(header, bob):
    text = f"{header}1|ann|{TIMES}|ann\n2|ann|{TIMES}|{bob}\n"
    message = rf"log: line 3: 2 columns 'User' with 'ann' and '{bob}': expected one"
    with pytest.raises(InvalidInstance, match=message):
        parse_history(text, name="log")


def test_so_it_is_in_a_row_with_a_line_end_in_its_name(tmp_path):
    header = "JobID|JobName|User|State|Submit|Start|End|User\n"
    text = f"{header}1|a\nb|ann|{TIMES}|bob\n"
    with pytest.raises(InvalidInstance, match=r"line 2: 2 columns 'User' with 'ann' and 'bob'"):
        parse_history(text)
    (tmp_path / "log.txt").write_text(
        text.replace("|User\n", "|User|Elapsed|NCPUS\n").replace("|bob\n", "|bob|00:59:00|1\n")
    )
    (tmp_path / "m.toml").write_text("[[nodes]]\ncount = 1\ncores = 1\n")
    with pytest.raises(InvalidInstance, match=r"line 2: 2 columns 'User' with 'ann' and 'bob'"):
        cs.cluster.from_sacct(tmp_path / "log.txt", tmp_path / "m.toml")


def test_outputs_of_a_snapshot_that_repeat_a_column_with_other_values_are_refused():
    assert rows("JOBID|AGE|AGE\n7|1|1\n", "sprio.txt") == [{"JOBID": "7", "AGE": "1"}]
    with pytest.raises(InvalidInstance, match=r"sprio.txt: line 2: 2 columns 'AGE' with '1' and"):
        rows("JOBID|AGE|AGE\n7|1|2\n", "sprio.txt")


def test_an_output_that_repeats_a_column_is_taken_where_the_values_are_the_same():
    text = "Account|User|Share|User\nroot||1|\na||3|\na|ann|2|ann\n"
    accounts = parse_accounts({"a.txt": text}, "a")
    assert [row.get("User", "") for row in accounts.associations] == ["", "", "ann"]
    assert accounts.notes == ("a.txt:1: column 'User' is there 2 times",)
    with pytest.raises(InvalidInstance, match=r"a\.txt:3: 2 columns 'User' with 'ann' and 'bob'"):
        parse_accounts({"a.txt": "Account|User|User\nroot||\na|ann|bob\n"}, "a")
