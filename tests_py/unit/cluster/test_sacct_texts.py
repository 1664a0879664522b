"""Rows of sacct with a delimiter or a line end in a text are kept if the columns can be told."""

import pytest
from note_facts import counts, places

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.files.sacct.alignment import Aligner
from cosched.slurm.live.job_records import parse_history

CONF = """
NodeName=a[1-2] CPUs=8 RealMemory=32000 Feature=type_a
NodeName=b[1-2] CPUs=8 RealMemory=32000 Feature=type_b
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE
"""
COLUMNS = ("JobID", "User", "Partition", "State", "Submit", "Start", "Elapsed", "Timelimit",
           "NNodes", "NCPUS")  # fmt: skip


TWO_NODES = {"NNodes": "2", "NCPUS": "16"}
#: Constraints with counts that Slurm takes.
COUNTED = ["[a*1&b*1]", "a*2", "(a|b)*2", "[(a|b)*2]", "[a*1&(b|c)*1]", "[(a|b)*1&(b|c)*1]&c"]


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "slurm.conf"
    path.write_text(CONF)
    return cs.cluster.Machine.read(path)


@pytest.fixture(scope="module")
def machine_with_letters(tmp_path_factory):
    """Features a, b and c, on two nodes at least."""
    path = tmp_path_factory.mktemp("letters") / "slurm.conf"
    path.write_text(CONF.replace("type_a", "a,c").replace("type_b", "b,c"))
    return cs.cluster.Machine.read(path)


@pytest.fixture
def read(tmp_path, machine):
    def reads(*lines, end="\n", site=machine, **options):
        (tmp_path / "jobs.txt").write_text("\n".join(lines) + end, newline="")
        return cs.cluster.from_sacct(tmp_path / "jobs.txt", site, **options)

    return reads


def cells(number, **changed):
    usual = {
        "JobID": str(number), "User": "sue", "Partition": "main", "State": "COMPLETED",
        "Submit": f"2025-08-12T08:00:{number:02}", "Start": f"2025-08-12T08:01:{number:02}",
        "Elapsed": "01:00:00", "Timelimit": "02:00:00", "NNodes": "1", "NCPUS": "8",
    }  # fmt: skip
    return usual | changed


def lines_of(columns, rows, mark="|", closing=""):
    yield mark.join(columns) + closing
    for row in rows:
        yield mark.join(row.get(name, "") for name in columns) + closing


#: Why a line whose columns cannot be told apart is left out.
OTHER_FIELDS = "fields are not those of the first line"
#: Subject of the note on rows with a delimiter or a line end inside a text.
TEXTS = "texts with a delimiter"


@pytest.mark.parametrize("closing", ["", "|"])
@pytest.mark.parametrize("place", [1, 8, 10])
def test_constraints_keep_their_bars_wherever_the_column_is(
    read, machine_with_letters, place, closing
):
    texts = ["a|b", "[a|b]", "(a|b)*2", "(a&b)|c", "a", "", "(a|b)&c*2"]
    columns = [*COLUMNS[:place], "Constraints", *COLUMNS[place:]]
    rows = [cells(k, Constraints=text) for k, text in enumerate(texts)]
    inst = read(*lines_of(columns, rows, closing=closing), site=machine_with_letters)
    assert inst.column("constraint").tolist() == texts
    assert inst.ids.tolist() == list(range(7))
    assert places(inst.notes, NoteKind.REPAIRED)[TEXTS] == (5, "lines 2, 3, 4, 5, 8")


@pytest.mark.parametrize("mark", ["^", "\t", "%~%", ";"])
def test_constraints_are_the_same_with_another_delimiter(read, machine_with_letters, mark):
    columns = [*COLUMNS, "Constraints"]
    texts = ["a|b", "[a|b]", "a", *COUNTED]
    rows = [cells(k, Constraints=text, **TWO_NODES) for k, text in enumerate(texts)]
    inst = read(*lines_of(columns, rows, mark), delimiter=mark, site=machine_with_letters)
    assert inst.column("constraint").tolist() == texts
    assert not counts(inst.notes, NoteKind.REPAIRED)


def test_bars_beside_counts_and_parentheses_lose_no_job(read, machine_with_letters):
    columns = [*COLUMNS, "Constraints", "Comment"]
    rows = [cells(k, Constraints=text, Comment="x", **TWO_NODES) for k, text in enumerate(COUNTED)]
    inst = read(*lines_of(columns, rows), site=machine_with_letters)
    assert inst.column("constraint").tolist() == COUNTED
    not_followed = counts(inst.notes, NoteKind.NOT_FOLLOWED)
    for text in COUNTED:
        assert not_followed[f"constraint {text}"] == 1


def test_quotes_of_a_csv_writer_are_no_part_of_a_constraint(read, machine_with_letters):
    lines = lines_of([*COLUMNS, "Constraints"], [cells(1, Constraints='"a|b"')])
    inst = read(*lines, site=machine_with_letters)
    assert inst.column("constraint").tolist() == ["a|b"]


@pytest.mark.parametrize("name", ["JobName", "Comment", "SubmitLine"])
@pytest.mark.parametrize("place", [1, 6, 10])
def test_a_line_end_in_a_text_loses_no_job(read, name, place):
    columns = [*COLUMNS[:place], name, *COLUMNS[place:]]
    texts = ["a\nb", "plain", "/x|y\nz", "\n", "\n\n", "/a\n/b|\n", "", "x|\n|y"]
    inst = read(*lines_of(columns, [cells(k, **{name: text}) for k, text in enumerate(texts)]))
    assert inst.ids.tolist() == list(range(8))
    assert inst.column("runtime").tolist() == [3600] * 8
    assert inst.column("user").tolist() == ["sue"] * 8
    if name == "JobName":
        # Empty lines at the end of a row are empty lines.
        expected_texts = [text.rstrip("\n") for text in texts] if place == 10 else texts
        assert inst.column("job_name").tolist() == expected_texts


def test_a_line_end_in_the_last_text_belongs_to_its_row(read):
    columns = [*COLUMNS, "SubmitLine"]
    line = "sbatch --wrap=echo hello &&\necho goodbye --constraint=b\n\n# end"
    inst = read(*lines_of(columns, [cells(1, SubmitLine=line), cells(2, SubmitLine="sbatch j")]))
    assert inst.ids.tolist() == [1, 2]
    assert counts(inst.notes, NoteKind.REPAIRED)[TEXTS] == 1


def test_two_free_texts_that_cannot_be_told_are_empty_and_the_job_is_kept(read):
    columns = [*COLUMNS, "JobName", "Comment"]
    inst = read(*lines_of(columns, [cells(1, JobName="a|b", Comment="c"), cells(2, JobName="x")]))
    assert inst.column("job_name").tolist() == ["", "x"]
    assert places(inst.notes, NoteKind.REPAIRED)["JobName"] == (1, "line 2")


def test_a_row_whose_constraint_cannot_be_told_is_dropped(read):
    columns = [*COLUMNS, "Constraints", "Comment"]
    rows = [cells(1, Constraints="a|b", Comment="c"), cells(2, Constraints="a")]
    inst = read(*lines_of(columns, rows))
    assert inst.ids.tolist() == [2]
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (1, "line 2")


def test_forms_tell_two_free_texts_apart(read):
    columns = ["JobID", "JobName", "WorkDir", *COLUMNS[1:], "Constraints", "SubmitLine"]
    asked = "(type_a|type_b)*2"
    row = cells(1, JobName="a|b", WorkDir="/w", Constraints=asked, SubmitLine="sbatch --wrap a|b")
    inst = read(*lines_of(columns, [row]))
    assert inst.column("job_name").tolist() == ["a|b"]
    assert inst.column("constraint").tolist() == [asked]


def test_features_of_the_machine_tell_a_comment_from_a_constraint(read):
    columns = ["JobID", "Comment", "Constraints", *COLUMNS[1:]]
    rows = [cells(1, Constraints="type_a|type_b"), cells(2, Comment="c|d", Constraints="type_a"),
            cells(3, Comment="c", Constraints="type_a|type_b"), cells(4),
            cells(5, Comment="c", Constraints="a|b")]  # fmt: skip
    inst = read(*lines_of(columns, rows))
    assert inst.ids.tolist() == [1, 2, 3, 4]
    assert inst.column("constraint").tolist() == ["type_a|type_b", "type_a", "type_a|type_b", ""]
    assert inst.column("comment").tolist() == ["", "c|d", "c", ""]
    # Of the third the comment could be c|type_a; of the fifth anything.
    assert counts(inst.notes, NoteKind.ASSUMED)["Constraints"] == 1
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (1, "line 6")


def test_a_row_is_the_fewest_lines_wherever_its_job_number_is(read):
    columns = ["NCPUS", "WorkDir", *COLUMNS[1:9], "JobName", "JobID"]
    texts = ["a", "b\nc", "d|e", "\n"]
    rows = [cells(k, JobName=text, WorkDir="/w") for k, text in enumerate(texts)]
    lines = [*lines_of(columns, rows)]
    inst = read(*lines, lines[2][:30])
    assert inst.ids.tolist() == [0, 1, 2, 3]
    assert inst.column("job_name").tolist() == texts
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (1, "line 8")
    # Behind half a row, a row of two lines may have begun with it.
    doubtful = read(*lines[:4], lines[2][:30], *lines[4:])
    assert doubtful.ids.tolist() == [0, 1, 2]
    assert places(doubtful.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (2, "lines 6, 7")


def test_a_text_between_two_rows_that_is_of_either_is_of_none(read):
    columns = ["Comment", *COLUMNS, "JobName"]
    rows = [*lines_of(columns, [cells(1, JobName="a"), cells(2, Comment="c")])]
    inst = read(rows[0], rows[1], "more", rows[2])
    assert inst.ids.tolist() == [1, 2]
    assert inst.column("job_name").tolist() == ["", ""]
    assert places(inst.notes, NoteKind.REPAIRED)["JobName"] == (1, "line 2")


def test_names_of_other_rows_decide_between_users_and_texts(read):
    columns = ["JobID", "JobName", "User", "Account", "Partition", "Constraints", *COLUMNS[3:]]
    row = cells(1, JobName="a|b", Account="physics", Constraints="type_a")
    alone = cells(2, JobName="c", Account="physics", Constraints="x")
    inst = read(*lines_of(columns, [row, alone]))
    assert inst.column("job_name").tolist() == ["a|b", "c"]
    assert inst.column("user").tolist() == ["sue", "sue"]
    stranger = cells(1, JobName="a|b", Account="physics", Constraints="type_a", User="new")
    inst = read(*lines_of(columns, [stranger, alone]))
    assert inst.ids.tolist() == [2]
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (1, "line 2")


def test_lines_that_belong_to_no_row_are_counted(read):
    rows = [*lines_of(COLUMNS, [cells(1), cells(2), cells(3)])]
    error = "sacct: error: slurmdbd: connection lost"
    inst = read(rows[0], error, rows[1], error, rows[2], rows[3][:40])
    assert inst.ids.tolist() == [1, 2]
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (3, "lines 2, 4, 6")


def test_two_halves_of_rows_are_no_row(read):
    rows = [*lines_of([COLUMNS[0], "JobName", *COLUMNS[1:]], [cells(k) for k in range(4)])]
    inst = read(rows[0], rows[1], rows[2].rsplit("|", 1)[0], rows[3].rsplit("|", 1)[0], rows[4])
    assert inst.ids.tolist() == [0, 3]
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (2, "lines 3, 4")


def test_one_odd_row_behind_a_broken_one_is_counted_by_itself(read):
    rows = [*lines_of(COLUMNS, [cells(1, User="a|b"), cells(2, Submit="yesterday"), cells(3)])]
    inst = read(*rows)
    assert inst.ids.tolist() == [3]
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (1, "line 2")
    assert places(inst.notes, NoteKind.DROPPED)["Submit is no time"] == (1, "line 3")


def test_a_million_bars_are_no_row_and_take_no_time():
    aligner = Aligner(["JobID", "JobName", "Comment", "State"], "|", closed=False)
    assert aligner.align(["1|" + "|" * 1_000_000 + "COMPLETED"]) is None
    record = aligner.align(["1|" + "|" * 500 + "COMPLETED"])
    assert record.cells == {"JobID": "1", "State": "COMPLETED"}
    assert record.undecided == {"JobName", "Comment"}


#: A job name that is a whole row between two line ends; {} is the number of its job.
ROW_IN_A_NAME = (
    "begin\n{}|fake|sue|main|COMPLETED|2025-08-12T07:00:00|2025-08-12T07:30:00|09:00:00|10:00:00"
    "|1|8\nend"
)


def lines_with_names(*names):
    columns = ["JobID", "JobName", *COLUMNS[1:]]
    rows = [cells(k, JobName=name) for k, name in enumerate(names, 1)]
    return "\n".join(lines_of(columns, rows)).split("\n")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_row_inside_a_job_name_replaces_no_job(read, number):
    name = ROW_IN_A_NAME.format(number)
    inst = read(*lines_with_names("a", name, "c"))
    assert inst.ids.tolist() == [1, 2, 3]
    assert inst.column("job_name").tolist() == ["a", name, "c"]
    assert inst.column("runtime").tolist() == [3600] * 3
    assert places(inst.notes, NoteKind.REPAIRED)["lines inside a text"] == (1, "line 4")
    assert sum(counts(inst.notes, NoteKind.DROPPED).values()) == 0


def test_so_do_several_rows_and_lines_of_text_inside_a_job_name(read):
    name = "x\n" + "\n".join(ROW_IN_A_NAME.format(k) for k in (1, 3, 2))
    inst = read(*lines_with_names("a", name, "c|d"))
    assert inst.ids.tolist() == [1, 2, 3]
    assert inst.column("job_name").tolist() == ["a", name, "c|d"]
    assert counts(inst.notes, NoteKind.REPAIRED)["lines inside a text"] == 3


def test_a_row_with_a_number_of_its_own_between_rests_of_rows_stays_a_row(read):
    inst = read(*lines_with_names("a", ROW_IN_A_NAME.format(7), "c"))
    assert sorted(inst.ids) == [1, 3, 7]
    assert places(inst.notes, NoteKind.DROPPED)[OTHER_FIELDS] == (2, "lines 3, 5")


def test_a_history_for_predictions_ignores_rows_inside_job_names():
    header = "JobID|JobName|State|Submit|Start|End"
    rest = "COMPLETED|2025-08-12T08:00:00|2025-08-12T08:01:00|2025-08-12T09:00:00"
    fake = "COMPLETED|2025-08-12T01:00:00|2025-08-12T02:00:00|2025-08-12T09:00:00"
    lines = [header, f"1|a|{rest}", f"2|b\n1|x|{fake}\nc|{rest}"]
    notes = []
    jobs = parse_history("\n".join(lines), notes=notes)
    assert [(job.id, job.end - job.start) for job in jobs] == [(1, 3540), (2, 3540)]
    assert places(notes, NoteKind.REPAIRED) == {"lines inside a text": (1, "sacct.txt")}


@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_an_empty_file_is_called_empty(tmp_path, capsys, text):
    (tmp_path / "slurm.conf").write_text(CONF)
    for name in ("log.txt", "log.swf", "log.csv", "log"):
        path = tmp_path / name
        path.write_text(text)
        assert (
            main(["compare", "cluster", str(path), "--machine", str(tmp_path / "slurm.conf")]) == 2
        )
        assert "empty" in capsys.readouterr().err
    command = ["when", "--backtest", str(tmp_path / "log.txt")]
    assert main([*command, "--machine", str(tmp_path / "slurm.conf")]) == 2
    assert "log.txt: the file is empty: expected sacct -P output" in capsys.readouterr().err


def test_a_history_for_predictions_keeps_jobs_with_odd_names():
    header = "JobID|JobName|User|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS|NodeList"
    rest = "sue|COMPLETED|2025-08-12T08:00:00|2025-08-12T08:01:00|2025-08-12T09:00:00|90|1|8|a1"
    jobs = parse_history("\n".join([header, f"1|a|b|{rest}", f"2|c\nd\x0b|{rest}", f"3|e|{rest}"]))
    assert [(job.id, job.user, job.limit, job.end - job.start) for job in jobs] == [
        (1, "sue", 5400, 3540), (2, "sue", 5400, 3540), (3, "sue", 5400, 3540),
    ]  # fmt: skip
    closed = parse_history("\n".join([header + "|", f"1|a|b|{rest}|", f"2|c\nd|{rest}|"]))
    assert [job.id for job in closed] == [1, 2]
    with pytest.raises(cs.InvalidInstance, match=r"sacct.txt: line 3: expected the fields of"):
        parse_history("\n".join([header, f"1|a|{rest}", f"x|{rest}"]))
