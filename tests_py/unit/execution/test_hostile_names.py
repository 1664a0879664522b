"""Names from files and options that would be code in a shell, or an option of sbatch.

Each field of each file that `script` and `batch` read holds each of these names in turn. It is
refused in one line, or what is written runs as planned: nothing else is executed, and each line
for sbatch is one that sbatch knows.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import CoschedError, InvalidInstance
from cosched.execution import BatchTask, Code, Codes, Plan, ScriptJob, batch, batches, script
from cosched.execution.shell_text import places_of_command, quote_word
from cosched.execution.slurm_words import amount_of, option_lines, require_slurm_name

NAMES = [
    "$(touch EXECUTED)", "`touch EXECUTED`", "'; touch EXECUTED; '", '"; touch EXECUTED; "',
    "a\ntouch EXECUTED\n", "a\n#SBATCH --uid=0", "a --uid=0", "x; touch EXECUTED #",
    "| touch EXECUTED", "&& touch EXECUTED", "-x", "--uid=0", "../../a", "a b", "*", "#", "\\",
    "$HOME", "${IFS}", "{task}", "a,b:2", "\x1b[31m", "\u202e", "\u2028", "\u00e9", " ",
]  # fmt: skip
#: One option, or several in a line, as this package writes them.
OPTION = r'--[a-z]+(-[a-z]+)*(=("[^"\\]*"|[A-Za-z0-9_.@/+,:=%~-]*))?'
SBATCH_LINE = re.compile(rf"#SBATCH {OPTION}( {OPTION})*")
CODES = """procs = 2
[capacity]
licences = { solver = 2 }
[task.a]
command = ["true"]
licences = { solver = 1 }
[task.b]
command = "true {procs}"
"""
PLAN = {
    "format": "cosched-schedule", "version": 1, "family": "packs", "names": ["a", "b"],
    "resources": {"licences.solver": [1, 1], "memory": [1, 1]},
    "capacity": {"licences.solver": 2, "memory": 4},
    "placements": [
        {"task": 0, "name": "a", "kind": 0, "units": [0], "start": 0.0, "end": 1.0},
        {"task": 1, "name": "b", "kind": 0, "units": [1], "start": 0.0, "end": 1.0},
    ],
}  # fmt: skip


def edited(change):
    """The plan with one field that `change` has set."""
    plan = json.loads(json.dumps(PLAN))
    change(plan)
    return plan


def renamed(table, name):
    """The table with another name for its first entry."""
    first, *others = table.items()
    return {name: first[1], **dict(others)}


FIELDS_OF_PLAN = {
    "format": lambda plan, name: plan.update(format=name),
    "family": lambda plan, name: plan.update(family=name),
    "algorithm": lambda plan, name: plan.update(algorithm=name),
    "status": lambda plan, name: plan.update(status=name),
    "bound": lambda plan, name: plan.update(bound={"value": 1.0, "method": name}),
    "names": lambda plan, name: plan.update(names=[name, "b"]),
    "resource": lambda plan, name: plan.update(resources={name: [1, 1]}),
    "licence": lambda plan, name: plan.update(resources={f"licences.{name}": [1, 1]}),
    "capacity": lambda plan, name: plan.update(capacity={name: 2}),
    "capacity of a licence": lambda plan, name: plan.update(capacity={f"licences.{name}": 2}),
    "need": lambda plan, name: plan["resources"].update(memory=[name, 1]),
    "placement": lambda plan, name: plan["placements"][0].update(name=name),
    "units": lambda plan, name: plan["placements"][0].update(units=[name]),
    "start": lambda plan, name: plan["placements"][0].update(start=name),
    "kind": lambda plan, name: plan["placements"][0].update(kind=name),
    "interval": lambda plan, name: plan.update(interval={"p95": name}),
    "procs": lambda plan, name: plan.update(procs=name),
    "edges": lambda plan, name: plan.update(edges=[[name, 1]]),
}
OF_TASK = {"name": "a", "command": ("true",)}
FIELDS_OF_CODES = {
    "command": {"command": ("true", "{name}")},
    "launch": {"launch": ("srun", "{name}")},
    "mpirun": {"launch": ("mpirun", "{name}")},
    "value of a variable": {"environment": {"X": "{name}"}},
    "name of a variable": {"environment": {"{name}": "x"}},
    "directory": {"directory": Path("sub", "{name}")},
    "parameter": {"command": "true {p}", "parameters": {"p": "{name}"}},
    "licence": {"licences": {"{name}": 1}},
    "ranks": {"ranks": "{name}"},
}
FIELDS_OF_JOB = ("time", "partition", "account", "chdir", "mem")


def filled(field, name):
    """What is given with the name in its places."""
    if isinstance(field, str):
        return field.replace("{name}", name)
    if isinstance(field, Path):
        return Path(filled(str(field), name))
    if isinstance(field, tuple):
        return tuple(filled(part, name) for part in field)
    return {filled(key, name): part if key == "{name}" and part == 1 else filled(part, name)
            for key, part in field.items()}  # fmt: skip


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The programs of Slurm as scripts that do nothing, in front of those of this host."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in {"srun": "", "mpirun": "", "scontrol": "echo n1"}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def require_harmless(text, work):
    """Each line for sbatch is one of this package's, and a run of the script executes no name."""
    lines = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert lines
    for line in lines:
        assert SBATCH_LINE.fullmatch(line), line
        assert " --uid" not in re.sub('"[^"]*"', "", line)
    (work / "job.sh").write_text(text)
    process = subprocess.run(
        ["bash", "job.sh"], cwd=work, capture_output=True, text=True, timeout=60, check=False
    )
    assert "syntax error" not in process.stderr, process.stderr
    assert not list(work.parent.rglob("EXECUTED*"))


def written_or_refused(make, work):
    """1 where a script was written, and is harmless; 0 where it was refused in one line."""
    try:
        text = make()
    except (CoschedError, OSError) as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert "\n" not in message
        return 0
    require_harmless(text, work)
    return 1


@pytest.mark.parametrize("field", FIELDS_OF_PLAN)
def test_fields_of_a_plan(field, programs):
    (programs / "codes.toml").write_text(CODES)
    codes = Codes.read("codes.toml")

    def make(name):
        plan = edited(lambda plan: FIELDS_OF_PLAN[field](plan, name))
        Path("plan.json").write_text(json.dumps(plan))
        return script(Plan.read("plan.json", list(codes)), codes)

    for name in NAMES:
        written_or_refused(lambda name=name: make(name), programs)


@pytest.mark.parametrize("field", FIELDS_OF_CODES)
def test_fields_of_codes(field, programs):
    def make(name):
        code = Code(**{**OF_TASK, **filled(FIELDS_OF_CODES[field], name)})
        codes = Codes(procs=2, codes={"a": code})
        instance = cs.packs.Instance([[1.0]], names=["a"])
        return script(cs.packs.sequential(instance), codes)

    count = sum(written_or_refused(lambda name=name: make(name), programs) for name in NAMES)
    # A licence and a variable have names that nothing reads as code; other texts are quoted.
    assert count == 0 if field in ("licence", "name of a variable") else count > len(NAMES) // 2


@pytest.mark.parametrize("field", ["task", "licence", "capacity"])
def test_fields_of_a_codes_file(field, programs):
    texts = {"task": "[task.a]", "licence": "{ solver = 1 }", "capacity": "{ solver = 2 }"}
    forms = {"task": "[task.{}]", "licence": "{{ {} = 1 }}", "capacity": "{{ {} = 2 }}"}

    def make(name):
        form = forms[field].format(json.dumps(name))
        Path("codes.toml").write_text(CODES.replace(texts[field], form))
        codes = Codes.read("codes.toml")
        instance = cs.packs.Instance([[1.0], [1.0]], names=list(codes))
        return script(cs.packs.sequential(instance), codes)

    count = sum(written_or_refused(lambda name=name: make(name), programs) for name in NAMES)
    assert count == 0 if field != "task" else count > len(NAMES) // 2


@pytest.mark.parametrize("field", FIELDS_OF_JOB)
def test_options_of_a_job(field, programs):
    codes = Codes(procs=1, codes={"a": Code(**OF_TASK)})
    plan = cs.packs.sequential(cs.packs.Instance([[1.0]], names=["a"]))
    for name in NAMES:
        written_or_refused(
            lambda name=name: script(plan, codes, job=ScriptJob(**{field: name})), programs
        )
        written_or_refused(lambda name=name: script(plan, codes, name=name), programs)


def test_a_command_writes_no_script_of_a_hostile_plan(programs, capsys):
    (programs / "codes.toml").write_text(CODES)
    plan = edited(lambda plan: plan.update(resources={"licences.x$(touch EXECUTED)": [1, 1]}))
    (programs / "plan.json").write_text(json.dumps(plan))
    assert main(["script", "plan.json", "--codes", "codes.toml", "-o", "job.sh"]) == 2
    assert capsys.readouterr().err == (
        "cosched: error: plan.json: licence = 'x$(touch EXECUTED)': expected a name of letters, "
        "digits and _.@/+-\n"
    )
    assert not (programs / "job.sh").exists()


def tasks_of(names):
    """A task of each name, in a chain."""
    return [
        BatchTask(
            name=name,
            seconds={1: 1.0},
            commands={1: ("true", name)},
            after=tuple(names[max(place - 1, 0) : place]),
            environment={"X": name},
        )
        for place, name in enumerate(names)
    ]


def test_tasks_of_a_batch(programs):
    batch_plan = batch(tasks_of(NAMES), limit=600.0, cores=2)
    batches.write(batch_plan, "jobs")
    for path in sorted(Path("jobs").glob("part-*.sh")):
        lines = [line for line in path.read_text().splitlines() if line.startswith("#SBATCH")]
        assert all(SBATCH_LINE.fullmatch(line) for line in lines)
        assert not any(name.strip() in path.read_text() for name in NAMES if len(name) > 6)
        subprocess.run(["bash", path.name], cwd="jobs", check=True, timeout=120)
    assert not any(name in Path("jobs", "submit.sh").read_text() for name in NAMES if len(name) > 6)
    assert not list(programs.parent.rglob("EXECUTED*"))
    assert {name for part in batches.status("jobs") for name in part.completed} == set(NAMES)


@pytest.mark.parametrize("field", ["option", "value", "licence"])
def test_options_of_a_batch(field, programs):
    for name in NAMES:
        licences = {name: 1.0} if field == "licence" else {}
        options = {"option": {name: "x"}, "value": {"partition": name}, "licence": {}}[field]
        task = BatchTask(name="a", seconds={1: 1.0}, commands={1: ("true",)}, licences=licences)
        if field == "value" and name == "a,b:2":  # a list, as of options such as --gres
            continue
        with pytest.raises(InvalidInstance):
            batches.write(
                batch([task], limit=60.0, cores=1, licences=licences), "jobs", options=options
            )
        assert not Path("jobs").exists(), name


def test_fields_of_a_list_of_tasks(programs, capsys):
    for column in ("name", "after", "cores", "memory", "seconds"):
        for place, name in enumerate(NAMES):
            cells = {"command": "true", "seconds": "1", "cores": "1", "memory": "1", "name": "t"}
            cells |= {"after": "", column: name}
            quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells.values())
            Path("list.csv").write_text(f"{','.join(cells)}\n{quoted}\n", encoding="utf-8")
            folder = f"{column}{place}"
            shape = ["--nodes", "1", "--time", "1:00:00", "--cores-per-node", "1"]
            code = main(["batch", "list.csv", *shape, "-o", folder])
            errors = capsys.readouterr().err
            assert code in (0, 2)
            if code == 2:
                assert len(errors.splitlines()) == 1
                assert not Path(folder).exists()
            else:
                text = Path(folder, "part-001.sh").read_text()
                assert all(
                    SBATCH_LINE.fullmatch(line)
                    for line in text.splitlines()
                    if line.startswith("#SBATCH")
                )


def test_the_snakemake_executor_admits_the_same_names():
    plugin = pytest.importorskip("snakemake_executor_plugin_cosched")
    from snakemake_executor_plugin_cosched.shape import AllocationShape

    usual = {"local": True, "cores": 1}
    for field in ("partition", "account"):
        for name in NAMES:
            if name != "a,b:2":
                with pytest.raises(InvalidInstance, match=field):
                    AllocationShape(plugin.ExecutorSettings(**usual, **{field: name}))
    for amount in (float("nan"), float("inf"), -1.0, 1e300):
        with pytest.raises(InvalidInstance, match="memory"):
            AllocationShape(plugin.ExecutorSettings(**usual, memory=amount))


def test_a_name_that_slurm_has_is_admitted():
    for name in ("main", "gpu-a100", "matlab@flex", "a.b/c", "7"):
        assert require_slurm_name(name, "licence") == name
    assert list(option_lines({"partition": "long,short"})) == ["--partition=long,short"]
    for amount in (-1, float("nan"), float("inf"), 1e302, "1", None, True):
        with pytest.raises(InvalidInstance, match="memory = "):
            amount_of(amount, "memory")


@pytest.mark.parametrize("name", NAMES)
def test_a_quoted_word_is_the_text_itself(name):
    printed = subprocess.run(
        ["bash", "-c", f"printf %s {quote_word(name)}"], capture_output=True, check=True
    )
    assert printed.stdout.decode() == name
    assert len(quote_word(name).splitlines()) <= 1


#: A command, and what each of its places stands in.
PLACES = [
    ("cat {x} > out", ["commands"]),
    ('echo "{x}"', ["double quotes"]),
    ("echo '{x}'", ["single quotes"]),
    ("echo \"a 'b' {x}\"", ["double quotes"]),
    ("echo 'a' {x} \"b\" {x}", ["commands", "commands"]),
    ('echo "$(cat {x})" {x}', ["commands", "commands"]),
    ('echo "$(cat "{x}")"', ["double quotes"]),
    ('echo "$(case a in a) echo {x};; esac)"', ["double quotes"]),
    ('( echo "{x}" ); ( echo {x} )', ["double quotes", "commands"]),
    ("echo `cat {x}`", ["backquotes"]),
    ("echo `cat $(ls {x})` {x}", ["backquotes", "commands"]),
    ("echo $((2 * {x})) {x}", ["$(( ))", "commands"]),
    ("echo $(( (2) * {x} ))", ["$(( ))"]),
    ("true # {x}\necho {x}", ["a comment", "commands"]),
    ("echo a#{x}", ["commands"]),
    ("cat <<E\n{x}\nE\necho {x}", ["a here-document", "commands"]),
    ("cat <<-'E' {x}\n{x}\n\tE\necho {x}", ["commands", "a here-document", "commands"]),
    ("cat <<< {x}", ["commands"]),
    (r"echo \{x}", ["a word behind a backslash"]),
    (r'echo "\"{x}"', ["double quotes"]),
    (r"echo \"{x}\"", ["commands"]),
    ("echo ${x} $x", []),
]


@pytest.mark.parametrize(("command", "contexts"), PLACES)
def test_what_a_place_stands_in(command, contexts):
    assert [place.context for place in places_of_command(command)] == contexts


@pytest.mark.parametrize(("command", "contexts"), PLACES)
def test_a_command_is_refused_or_its_value_is_one_word(command, contexts, tmp_path):
    """Whatever a place stands in: a shell executes no value of it."""
    del contexts
    for name in NAMES:
        try:
            code = Code(name="a", command=command, parameters={"x": name})
        except InvalidInstance:
            continue
        subprocess.run(
            code.filled(1, (0,)), cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=60, check=False,
        )  # fmt: skip
        assert not list(tmp_path.glob("EXECUTED*")), (command, name)


def test_a_quoted_place_of_a_file_is_refused_with_the_right_form(tmp_path):
    path = tmp_path / "codes.toml"
    head = "procs = 1\n[task.sweep]\n"
    for command, context in (('echo "{file}"', "double"), ("echo '{task}'", "single")):
        path.write_text(f"{head}command = {json.dumps(command)}\nparameters = {{ file = [1] }}\n")
        with pytest.raises(InvalidInstance) as raised:
            Codes.read(path)
        place = command[6:-1]
        assert str(raised.value) == (
            f"{path}: line 3: key 'task.sweep.command': {place} stands in {context} quotes, and "
            f"is quoted where it is filled in: expected it outside of them, as in: echo {place}"
        )
    path.write_text(f"{head}command = 'sh -c \"exit $((1 - {{procs}}))\"'\n")  # a number of ours
    assert Codes.read(path)["sweep"].filled(1, (0,))[-1] == 'sh -c "exit $((1 - 1))"'


def test_values_of_a_sweep_are_named_with_their_line(tmp_path):
    path = tmp_path / "codes.toml"
    path.write_text(
        "procs = 1\n[task.sweep]\ncommand = 'cat `echo {file}`'\nparameters = { file = ['a b'] }\n"
    )
    with pytest.raises(InvalidInstance, match=r"line 3: key .*backquotes.*'a b'"):
        Codes.read(path)
    path.write_text(path.read_text().replace("a b", "ab"))
    assert len(Codes.read(path)) == 1


def test_as_many_gpus_as_a_file_says(programs):
    """A billion of them cost no more than those that are taken."""
    (programs / "codes.toml").write_text(
        "procs = 1\n[capacity]\ngpus = 1000000000\n[task.a]\ncommand = 'true'\ngpus = 1\n"
    )
    codes = Codes.read("codes.toml")
    instance = cs.packs.Instance([[1.0]], names=["a"])
    program = (
        "import resource, cosched as cs\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "print(cs.execution.run(cs.execution.Plan.read('plan.json'), "
        "cs.execution.Codes.read('codes.toml')).good)\n"
    )
    result = cs.packs.sequential(instance)
    cs.io.write_json(result.to_dict(), "plan.json")
    assert codes.capacity == {"gpus": 1e9}
    plan = json.loads(Path("plan.json").read_text())
    plan["placements"][0]["name"] = "a"
    Path("plan.json").write_text(json.dumps(plan))
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )
    assert process.stdout == "True\n", process.stderr
