"""A message about codes.toml names the key that is wrong, and its line."""

import pytest

from cosched.errors import InvalidInstance
from cosched.execution import Codes

CASES = [
    (
        'procs=4\n[task.a]\ncommand="x"\n[task.a.environment]\nA="1"\nX=[1]\n',
        6,
        "task.a.environment.X",
    ),
    (
        'procs=4\n[task.a]\ncommand="x {q}"\n[task.a.parameters]\nq=[1]\nz=[]\n',
        6,
        "task.a.parameters.z",
    ),
    ('procs=4\n[task.a]\ncommand="x"\n[task.a.memory]\n1=3\n9=5\n', 6, "task.a.memory.9"),
    (
        'procs=4\n[capacity.licences]\ncad=1\nsol=-1\n[task.a]\ncommand="x"\n',
        4,
        "capacity.licences.sol",
    ),
    (
        'procs=4\n[task.a]\ncommand="""\ntimeout = 5\n[task.b]\n"""\ntimeout=-1\n[task.b]\n',
        7,
        "task.a.timeout",
    ),
    (
        'procs=4\n[task.a]\ncommand="""\ntimeout = 5\n[task.b]\n"""\n[task.b]\ncommand=3\n',
        8,
        "task.b.command",
    ),
    ('procs=4\ntask.a.command="x"\ntask.a.timeout=-2\n', 3, "task.a.timeout"),
    ('procs=4\n[task]\na={command="x",timeout=-1}\n', 3, "task.a.timeout"),
    ('procs=4\n[task]\na.command="x"\na.gpus=-1\n', 4, "task.a.gpus"),
    ('procs=4\n[task."a b"]\ncommand="x"\ngpus=-1\n', 4, "task.a b.gpus"),
    ('procs=4\n[ task . a ]\ncommand="x"\ngpus=-1\n', 4, "task.a.gpus"),
    ("procs=4\n[task.a]\ncommand='x'\n'gpus'=-1\n", 4, "task.a.gpus"),
    ('procs=4\n[task.a]\ncommand="x"\ncounts=[1,\n2,\n9]\n', 4, "task.a.counts"),
    (
        'procs=4\n[task.a]\ncommand="x"\nafter=["b"]\n[task.b]\ncommand="y"\nafter=["a"]\n',
        4,
        "task.a.after",
    ),
    ('procs=4\n[task.a]\ncommand="x"\nafter=["nope"]\n', 4, "task.a.after"),
    ('procs=4\n[capacity]\nmemory=1\n[task.a]\ncommand="x"\nmemory=2\n', 6, "task.a.memory"),
    ('procs=4\n[capacity]\ngpus=0\n[task.a]\ncommand="x"\n\ngpus=2\n', 7, "task.a.gpus"),
    (
        'procs=4\n[capacity]\nlicences={s=1}\n[task.a]\ncommand="x"\n[task.a.licences]\nt=1\n',
        7,
        "task.a.licences.t",
    ),
    ('procs=4\n[task.a]\ndirectory="d"\n', 2, "task.a.command"),
    ('procs=4\n[task.a]\ncommand="x"\n[[task.b]]\ncommand="y"\n', 4, "task.b"),
    ('procs=4\n[task.a]\ncommand="x"\ncomand="y"\n', 4, "task.a.comand"),
    ('x=1\nprocs=4\n[task.a]\ncommand="x"\n', 1, "x"),
    ('procs=4\n[task.a]\ncommand="x {procs"\nlaunch="mpirun \'x"\n', 4, "task.a.launch"),
    ('procs=4\n[task.a]\ncommand="x"\nweight="heavy"\n', 4, "task.a.weight"),
    (
        'procs=4\n[task.a]\ncommand="x"\n# gpus = 3\nenvironment={ A = "gpus = 1" }\ngpus="x"\n',
        6,
        "task.a.gpus",
    ),
    ('procs=4\n[task.a]\ncommand="x {y}"\nparameters = { y = [1, 1] }\n', 4, "task.a.parameters.y"),
    (
        'procs=4\n[task.a]\ncommand="x {y}"\nparameters = { y = "none*.nc" }\n',
        4,
        "task.a.parameters.y",
    ),
    (
        'procs=4\n[task.a]\ncommand="x"\n[task.a.licences]\nok=1\n"a,b"=2\n',
        6,
        "task.a.licences.a,b",
    ),
    ('procs=0\n[task.a]\ncommand="x"\n', 1, "procs"),
    ('procs=4\n[task.a]\ncommand=["x",3]\n', 3, "task.a.command"),
    ('procs=4\n[task]\n[task.a]\n[task.b]\ncommand="x"\n', 3, "task.a.command"),
    (
        'procs=4\n[task.a]\ncommand="x"\n[task.a.environment]\n"A=B"="1"\n',
        5,
        "task.a.environment.A=B",
    ),
]


@pytest.mark.parametrize(("text", "line", "key"), CASES)
def test_a_message_names_the_key_and_its_line(text, line, key, tmp_path):
    path = tmp_path / "codes.toml"
    path.write_text(text)
    with pytest.raises(InvalidInstance) as caught:
        Codes.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: line {line}: key '{key}'")
    assert "\n" not in message
