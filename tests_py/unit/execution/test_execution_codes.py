"""Files of codes: what they may say, and one clear line where they are wrong."""

import pytest

from cosched.errors import InvalidInstance
from cosched.execution import Code, Codes, Plan, PlanStep, plan, profile, run

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
            5,
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


@pytest.mark.parametrize(
    "value", ["[" * 3000 + "]" * 3000, "{a=" * 3000 + "1" + "}" * 3000, "1" * 5000]
)
def test_a_file_without_end_is_one_line(tmp_path, value):
    path = write(tmp_path, f"procs = 1\n[task.a]\ncommand = {value}\n")
    with pytest.raises(InvalidInstance, match=r"codes.toml: .*(recursion|digits)") as error:
        Codes.read(path)
    assert "\n" not in str(error.value)


def test_an_unknown_task_and_a_count_it_may_not_have():
    codes = Codes(procs=4, codes={"fem": Code(name="fem", command="x", counts=(1, 4))})
    with pytest.raises(InvalidInstance, match="near: fem"):
        codes["fen"]
    with pytest.raises(InvalidInstance, match="on 3 processors: expected one of 1, 4"):
        codes["fem"].filled(3, (0, 1, 2))


# --- places, sweeps, starters of ranks ------------------------------------------------------

PLACES = """\
procs = 4
[task."a/b"]
command = "./a"
directory = "runs/{task}-{procs}"
environment = { THREADS = "{procs}", CORES = "{cpus}", WHO = "{task}", HOME2 = "${HOME}" }
"""


def test_places_are_filled_in_environment_and_directory(tmp_path):
    code = Codes.read(write(tmp_path, PLACES))["a/b"]
    assert code.filled_environment(2, (0, 3)) == {
        "THREADS": "2", "CORES": "0,3", "WHO": "a/b", "HOME2": "${HOME}",
    }  # fmt: skip
    assert code.filled_directory(2, (0, 3)) == tmp_path / "runs" / "a%2Fb-2"


def test_a_folder_of_places_is_made_and_the_environment_seen(tmp_path):
    codes = Codes.read(
        write(
            tmp_path,
            'procs = 1\n[task.a]\ncommand = "echo $THREADS > here"\ndirectory = "new/{task}"\n'
            'environment = { THREADS = "n{procs}" }\n',
        )
    )
    profile(codes, repeat=1, out=tmp_path / "runs.csv")
    assert (tmp_path / "new" / "a" / "here").read_text() == "n1\n"
    step = PlanStep(task=0, name="a", kind=0, units=(0,), start=0.0, end=1.0)
    (tmp_path / "new" / "a" / "here").unlink()
    run(Plan(family="moldable", steps=(step,)), codes, journal=tmp_path / "journal.jsonl")
    assert (tmp_path / "new" / "a" / "here").read_text() == "n1\n"


@pytest.mark.parametrize(
    ("line", "number", "says"),
    [
        ('command = "./a {prosc}"', 3, "unknown place {prosc}: expected {procs}, {cpus}, {task}"),
        ('command = ["./a", "{core}"]', 3, "unknown place {core}"),
        ("command = \"awk '{print}'\"", 3, "braces of the code's own: { print }"),
        ('command = "./a"\ndirectory = "{tasks}"', 4, "unknown place {tasks}"),
        ('command = "./a"\nenvironment = { A = "{x}" }', 4, "unknown place {x}"),
        ('command = "./a {x}"\nparameters = { y = [1] }', 3, "unknown place {x}"),
        ('command = "./a"\nparameters = { task = [1] }', 4, "a word of letters and digits"),
        ('command = "./a"\nparameters = { x = [] }', 4, "expected a list"),
        ('command = "./a"\nparameters = { x = [1, 1] }', 4, "each value once"),
        ('command = "./a"\nparameters = { x = "nothing/*.nc" }', 4, "no such file"),
        ('command = "./a"\nlaunch = "mpirun {x}"', 4, "unknown place {x}"),
        ('command = "./a"\nlaunch = "srun"\nranks = "procs"', 5, "expected one of both"),
    ],
)
def test_unknown_places_are_refused_on_reading(tmp_path, line, number, says):
    path = write(tmp_path, f"procs = 4\n[task.a]\n{line}\n")
    with pytest.raises(InvalidInstance) as error:
        Codes.read(path)
    assert str(error.value).startswith(f"{path}: line {number}: key ")
    assert says in str(error.value)


def test_braces_of_the_shell_are_left_alone(tmp_path):
    text = "awk '{ print }' ${HOME} {1..3} {a,b} f() { x; }"
    code = Codes.read(write(tmp_path, f'procs = 1\n[task.a]\ncommand = "{text}"\n'))["a"]
    assert code.filled(1, (0,))[-1] == text


SWEEP = """\
procs = 2
[task.sweep]
command = "cat {file} > out; echo {x} {task} >> out"
directory = "runs/{x}-{file}"
counts = [1]
parameters = { x = [1, "b; touch PWNED"], file = "inputs/*.nc" }
[task.other]
command = ["echo", "{task}"]
"""


def test_a_sweep_is_a_task_a_combination(tmp_path):
    (tmp_path / "inputs").mkdir()
    for name in ("one", "two"):
        (tmp_path / "inputs" / f"{name}.nc").write_text(name)
    codes = Codes.read(write(tmp_path, SWEEP))
    assert list(codes)[:2] == ["sweep x=1 file=inputs/one.nc", "sweep x=1 file=inputs/two.nc"]
    assert len(codes) == 5
    assert {name: len(profiles) for name, profiles in codes.profiles().items()} == {
        "sweep": 4,
        "other": 1,
    }
    assert codes.counts_of("sweep") == (1,)
    frame = profile(codes, repeat=2, out=tmp_path / "runs.csv", oversubscribe=True)
    assert set(frame.task) == {"sweep", "other"}  # all combinations are measured as one
    advice = plan(tmp_path / "runs.csv", codes)
    assert sorted(advice.result.instance.names) == sorted(codes)
    arguments = {"journal": tmp_path / "journal.jsonl", "oversubscribe": True}
    assert run(advice.result, codes, **arguments).good
    outs = {path.parent.name: path.read_text() for path in tmp_path.glob("runs/*/out")}
    assert len(outs) == 4
    assert sorted(text[:3] for text in outs.values()) == ["one", "one", "two", "two"]
    assert all("b; touch PWNED sweep" in text or "1 sweep" in text for text in outs.values())
    assert not list(tmp_path.rglob("PWNED"))


def test_programs_that_start_ranks(tmp_path):
    def filled(launch, *arguments):
        code = Code(name="a", command=("./a", "{task}"), launch=launch)
        return code.filled(*arguments)

    assert filled("", 2, (0, 1)) == ["./a", "a"]
    assert filled("srun --mpi=pmix", 2, (0, 1)) == ["./a", "a"]  # the step's own srun
    standard = ["-n", "2", "--host", "localhost:2", "--bind-to", "none", "./a", "a"]
    assert filled("mpirun", 2, (0, 1)) == ["mpirun", *standard]
    assert filled("mpiexec -np {procs} -hosts {hosts}", 3, (0, 1, 2), "n1:2,n2:1") == (
        ["mpiexec", "-np", "3", "-hosts", "n1:2,n2:1", "./a", "a"]
    )
    codes = Codes(procs=1, codes={"a": Code(name="a", command="true", launch="srun")})
    with pytest.raises(InvalidInstance, match="launch = 'srun' needs the launcher slurm"):
        profile(codes, out=tmp_path / "runs.csv")
