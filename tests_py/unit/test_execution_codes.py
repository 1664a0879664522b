"""Files of codes: what they may say, and one clear line where they are wrong."""

import pytest

from cosched.errors import InvalidInstance
from cosched.execution import Code, Codes

GOOD = """\
procs = 16

[task.cfd]
command = "./cfd --grid {procs} > {task}.log"
counts = [4, 1, 2]
directory = "run"
timeout = 60
weight = 2.5

[task.cfd.environment]
OMP_PROC_BIND = "close"
LEVEL = 3

[task."a b"]
command = ["./fem", "--on", "{cpus}", "${{procs}}"]
"""


def write(folder, text):
    path = folder / "codes.toml"
    path.write_text(text)
    return path


def test_everything_that_a_file_may_say(tmp_path):
    codes = Codes.read(write(tmp_path, GOOD))
    assert codes.procs == 16
    assert list(codes) == ["cfd", "a b"]
    cfd = codes["cfd"]
    assert cfd.counts == (1, 2, 4)
    assert cfd.directory == tmp_path / "run"
    assert dict(cfd.environment) == {"OMP_PROC_BIND": "close", "LEVEL": "3"}
    assert (cfd.timeout, cfd.weight) == (60.0, 2.5)
    assert cfd.filled(4, range(4)) == ["/bin/sh", "-c", "./cfd --grid 4 > cfd.log"]
    # A list goes to no shell; other braces are the code's own.
    assert codes["a b"].filled(2, (3, 5)) == ["./fem", "--on", "3,5", "${2}"]
    assert codes["a b"].directory == tmp_path


def test_a_name_is_one_word_of_the_shell():
    code = Code(name="a; rm -rf b", command="echo {task}")
    assert code.filled(1, (0,))[-1] == "echo 'a; rm -rf b'"


def test_counts_that_are_measured(tmp_path):
    codes = Codes.read(write(tmp_path, 'procs = 12\n[task.a]\ncommand = "a"\n'))
    assert codes.counts_of("a") == (1, 2, 4, 8, 12)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("procs = 16\n[task.a\n", 2, "not TOML"),
        ('[task.a]\ncommand = "x"\n', 1, "'procs' is missing"),
        ('procs = 0\n[task.a]\ncommand = "x"\n', 1, "at least 1"),
        ('procs = "4"\n[task.a]\ncommand = "x"\n', 1, "expected an integer"),
        ("procs = 4\n", 1, "at least one table"),
        ('procs = 4\nprocz = 3\n[task.a]\ncommand = "x"\n', 2, "unknown key 'procz'"),
        ("procs = 4\n[task.a]\ncounts = [1]\n", 2, "is missing"),
        ('procs = 4\n[task.a]\ncommand = "x"\ncomand = "y"\n', 4, "near: command"),
        ("procs = 4\n[task.a]\ncommand = 3\n", 3, "a text or a list of texts"),
        ("procs = 4\n[task.a]\ncommand = []\n", 3, "a text or a list of texts"),
        ('procs = 4\n[task.a]\ncommand = "x"\ncounts = [1, 5]\n', 4, "in 1..4"),
        ('procs = 4\n[task.a]\ncommand = "x"\ncounts = 2\n', 4, "a list of integers"),
        ('procs = 4\n[task.a]\ncommand = "x"\ntimeout = 0\n', 4, "a positive number"),
        ('procs = 4\n[task.a]\ncommand = "x"\nweight = -1\n', 4, "a number >= 0"),
        ('procs = 4\n[task.a]\ncommand = "x"\nranks = "all"\n', 4, '"one" or "procs"'),
        (
            'procs = 4\n[task.b]\ncommand = "y"\n[task.a]\ncommand = "x"\nenvironment = 3\n',
            6,
            "a table of texts",
        ),
        (
            'procs = 4\n[task."b c"]\ncommand = "y"\n[task."b c".environment]\n"A=" = "1"\n',
            4,
            "the name of a variable",
        ),
    ],
)
def test_a_bad_file_says_line_key_and_what_was_expected(tmp_path, text, line, says):
    path = write(tmp_path, text)
    with pytest.raises(InvalidInstance) as error:
        Codes.read(path)
    message = str(error.value)
    assert message.startswith(f"{path}: line {line}"), message
    assert says in message
    assert "\n" not in message


def test_an_unknown_task_and_a_count_it_may_not_have():
    codes = Codes(procs=4, codes={"fem": Code(name="fem", command="x", counts=(1, 4))})
    with pytest.raises(InvalidInstance, match="near: fem"):
        codes["fen"]
    with pytest.raises(InvalidInstance, match="on 3 processors: expected one of 1, 4"):
        codes["fem"].filled(3, (0, 1, 2))
