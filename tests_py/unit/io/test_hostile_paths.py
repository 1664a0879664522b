"""Messages of readers show the path of their file on one line, whatever characters it has."""

import gzip
import warnings

import pytest

import cosched as cs
from border import FORMATS
from cosched.cli import main
from cosched.errors import no_folder_for, printable
from cosched.execution import batches
from cosched.execution.runs_file import read_runs

#: Names that would end the line of a message, steer a terminal, or turn the order of letters.
NAMES = ["a\nerror: b", "a\r\nb", "a\x1b[31mb\x07", "a\u202eb", "a\u2028b", "a\tb", "a\x85b"]
#: Contents that no reader takes, some for each kind of check.
CONTENTS = [b"", b"\0", b"[[[", b"\xff\xfeA\0", b"a,b\n1,2\n", b'{"times": 5}', b"\x1f\x8b\x08"]


def require_shown(message, path):
    """The message is one line, and what it says of the path is escaped."""
    assert message.isprintable(), ascii(message)
    if str(path) in message:
        raise AssertionError(f"the path is shown as it is: {message!a}")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", FORMATS)
def test_readers_of_instances(kind, name, tmp_path):
    format_of_kind = FORMATS[kind]
    folder = tmp_path / name
    folder.mkdir()
    path = folder / format_of_kind.name
    refused = 0
    for content in CONTENTS:
        path.write_bytes(content)
        try:
            instance = format_of_kind.read(path)
        except cs.CoschedError as error:
            refused += 1
            require_shown(str(error), path)
        else:
            for note in getattr(instance, "notes", ()):
                require_shown(note, path)
    assert refused > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "read",
    [
        cs.execution.Codes.read,
        read_runs,
        batches.TaskList.read,
        batches.status,
        batches.rest,
        cs.slurm.Snapshot.read,
        cs.cluster.Machine.read,
        cs.io.read_csv,
        cs.io.read_json,
        cs.io.read_text,
    ],
)
def test_readers_of_codes_runs_and_clusters(read, name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    for content in CONTENTS:
        for path in (folder / "codes.toml", folder / "runs.csv.gz", folder / "batch.json"):
            path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
            try:
                read(folder if read in (batches.status, batches.rest) else path)
            except cs.CoschedError as error:
                require_shown(str(error), folder)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    path = f"{name}/times.csv"
    (tmp_path / path).write_text("task,1\na,x\n")
    commands = [
        ["solve", "packs", path],
        ["solve", "packs", f"{name}/none.csv"],
        ["audit", path, "-o", "page.html"],
        ["when", path],
        ["plan", path, "-o", f"{name}/none/plan.json"],
        ["run", path, "--codes", path],
        ["profile", path, "-o", f"{name}/none/runs.csv"],
        ["batch", path, "--time", "4h", "--cores-per-node", "2", "-o", "jobs"],
        ["batch", name, "--status"],
        ["generate", "packs_iii", "-o", f"{name}/none/times.csv"],
    ]
    for command in commands:
        assert main(command) == 2, command
        errors = capsys.readouterr().err.removesuffix("\n")
        assert errors.isprintable(), (command, errors)
        assert printable(name) in errors, (command, errors)


@pytest.mark.parametrize("name", NAMES)
def test_notes_and_folders_that_are_not_there(name, tmp_path):
    _, (note,) = cs.io.as_utf8(b"a\xe4\n", name)
    assert note.startswith(f"{printable(name)}: 1 line is not UTF-8")
    with pytest.raises(FileNotFoundError) as refusal:
        cs.io.write_text("a", tmp_path / name / "a.txt")
    assert str(refusal.value) == no_folder_for(tmp_path / name / "a.txt")
    assert str(refusal.value).isprintable()


def test_a_message_keeps_letters_of_all_languages():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(cs.InvalidInstance("größe: 漢字, naïve ≤ 5\n")) == "größe: 漢字, naïve ≤ 5"
