"""Options of all commands: their types, their defaults, and those that every command has."""

import inspect
import json
from pathlib import Path

import click
import pytest

import cosched as cs
from cosched import cluster, execution, experiments, slurm
from cosched.cli import main
from cosched.cli.commands.compare import join_algorithm_names
from cosched.cli.commands.generate import _UNLISTED, generate, option_names
from cosched.cli.families import FAMILIES
from cosched.registry import presentation
from cosched.workloads import WORKLOADS
from every_command import every_command

#: What a text may be: a name, an expression, an address, a size or a time in Slurm's forms.
TEXTS = {
    "NAME", "NAME,...", "KEY,...", "KEY=VALUE", "KEY=VALUES", "KEY=VALUE,...", "MEASURE",
    "EXPRESSION", "WEEKS", "CLASS,...", "ZONE", "CHARACTER", "VERSION", "SIZE", "TIME",
    "TIME,...|auto", "DATE", "ID", "N[-M]", "SECONDS[-SECONDS]", "HOST:PORT|FILE", "DAYS|FILE",
    "best|bound|NAME", "URL",
}  # fmt: skip

#: The verbs with which help texts begin.
VERBS = {
    "Bundle", "Check", "Compare", "Compute", "Convert", "Download", "Export", "Generate", "List",
    "Measure", "Plan", "Predict", "Put", "Recommend", "Report", "Run", "Save", "Search", "Show",
    "Try",
}  # fmt: skip
#: Commands whose only result is a file.
WITHOUT_JSON = {"convert", "script", "snapshot", "library submit", "slurm record"}


def options_of(command):
    return [each for each in command.params if isinstance(each, click.Option)]


@pytest.mark.parametrize("path", every_command())
def test_an_option_has_the_type_of_its_values(path):
    for option in options_of(every_command()[path]):
        if not option.is_flag and option.type is click.STRING:
            assert option.metavar in TEXTS, option.opts


@pytest.mark.parametrize("path", every_command())
def test_every_command_has_the_common_options(path):
    command = every_command()[path]
    names = {name for option in options_of(command) for name in option.opts}
    assert {"-q", "--quiet", "-v", "--verbose", "-o", "--output"} <= names
    is_generator = path.startswith("generate ")
    assert ("--json" in names) == (path not in WITHOUT_JSON and not is_generator)


@pytest.mark.parametrize("path", every_command())
def test_a_help_text_begins_with_a_verb_phrase(path):
    first_words = every_command()[path].help.split()
    assert first_words[0] in VERBS
    if path.startswith("generate ") and path != "generate worst_case":
        assert first_words[0] == "Generate"


def test_a_value_is_called_by_its_kind_in_capitals_and_by_its_words_in_small_letters(capsys):
    assert main(["batch", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--nodes INTEGER|auto " in text
    assert "--time TIME|auto " in text
    assert "--memory-per-node SIZE " in text


@pytest.mark.parametrize("path", every_command())
def test_every_option_is_explained(path):
    for option in options_of(every_command()[path]):
        if not option.hidden:
            assert option.help is not None
            assert option.help.endswith((".", "... .")), option.opts


#: Command -> the function that it calls, and the words that the command needs.
FUNCTIONS = {
    "audit": (cluster.audit, ["log.swf"]),
    "tune": (slurm.tune, ["log.swf", "--vary", "bf_interval=30"]),
    "rightsize": (cluster.rightsize, ["log.swf"]),
    "when": (slurm.when, []),
    "profile": (execution.profile, ["codes.toml"]),
    "plan": (execution.plan, ["runs.csv"]),
    "run": (execution.run, ["plan.json", "--codes", "codes.toml"]),
    "script": (execution.script, ["plan.json", "--codes", "codes.toml"]),
    "study run": (experiments.run, ["packs-fig2-5"]),
}
#: Options whose values the command passes on in another form.
OTHER_FORMS = {
    ("tune", "objective"), ("tune", "engine"), ("profile", "launcher"), ("run", "launcher"),
    ("run", "journal"),
}  # fmt: skip


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_default_is_that_of_the_function(path):
    function, words = FUNCTIONS[path]
    parameters = inspect.signature(function).parameters
    values = every_command()[path].make_context(path, list(words)).params
    compared_names = [
        name
        for name in values.keys() & parameters.keys()
        if parameters[name].default is not inspect.Parameter.empty
        and (path, name) not in OTHER_FORMS
    ]
    assert compared_names
    for name in compared_names:
        default = parameters[name].default
        assert values[name] == default or (not values[name] and not default), name


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_has_an_option_per_argument(name):
    parameters = inspect.signature(WORKLOADS[name]).parameters
    if name in ("lu", "qr"):  # they pass the rest on
        parameters = inspect.signature(WORKLOADS["cholesky"]).parameters
    if name == "packs_iii":
        parameters = {**inspect.signature(WORKLOADS["packs_ii"]).parameters, **parameters}
    wanted_names = {
        key for key, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD
    } - {"seed", *_UNLISTED.get(name, ())}
    assert set(option_names(generate.commands[name].params)) == wanted_names


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_shows_the_defaults_of_its_arguments(name):
    command = generate.commands[name]
    context = click.Context(command)
    parameters = inspect.signature(WORKLOADS[name]).parameters
    for option in options_of(command):
        shown_default = option.show_default
        if isinstance(shown_default, str) and option.name in parameters:
            value = option.type_cast_value(context, shown_default)
            default = parameters[option.name].default
            expected = list(default) if isinstance(value, list) else default
            assert value == expected, option.name


def test_a_workload_names_the_options_that_it_needs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "requests", "--n", "9", "-o", "jobs.csv"]) == 2
    assert capsys.readouterr().err == "cosched: error: missing --nodes\n"
    assert main(["generate", "worst-case", "-o", "graph.json"]) == 2
    assert capsys.readouterr().err == "cosched: error: missing --algorithm\n"
    assert not list(tmp_path.iterdir())


def test_the_list_of_workloads_is_complete(capsys):
    assert list(generate.commands) == list(WORKLOADS)
    assert main(["generate", "--help"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in WORKLOADS)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_help_text_lists_the_algorithms_of_its_class(name):
    of = presentation(name)
    expected = of.spelling or ", ".join(of.family.algorithms)
    assert FAMILIES[name].algorithms == expected


# --- what earlier versions took ------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("task,1,2,3,4\nfft,8,4.5,3.2,2.6\nlu,6,3.4,2.6,2.1\nsort,4,2.6,2,1.8\n")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["FILE", "--algorithms", "optimal,sequential"],
        ["FILE", "--algorithms", "optimal", "sequential"],
        ["--algorithms", "optimal", "sequential", "FILE"],
        ["--algorithms", "optimal,sequential", "FILE"],
        ["FILE", "--policies", "optimal", "--policies", "sequential"],
    ],
)
def test_names_of_algorithms_stand_before_or_behind_the_file(words, table, capsys):
    arguments = [str(table) if word == "FILE" else word for word in words]
    assert main(["compare", "packs", *arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["algorithm"] for row in rows] == ["optimal", "sequential"]


def test_a_name_of_an_algorithm_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["times.csv", "--algorithms", "optimal", "pairs"]
    assert join_algorithm_names(words) == [
        "times.csv", "--algorithms", "optimal", "--algorithms", "pairs",
    ]  # fmt: skip


def test_a_workload_takes_options_as_in_earlier_versions(tmp_path, capsys):
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    assert main(["generate", "packs_ii", "--tasks", "5", "-o", str(paths[0])]) == 0
    assert main(["generate", "packs-ii", "--option", "tasks=5", "-o", str(paths[1])]) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert main(["generate", "lublin", "--option", "nn=3", "-o", str(paths[2])]) == 2
    expected = "unknown option 'nn' (options: n, nodes, types, convention, serial_cpu)"
    assert expected in capsys.readouterr().err


def test_quiet_and_verbose(table, capsys):
    command = ["bound", "packs", str(table)]
    assert main([*command, "--verbose"]) == 0
    assert "packs bound: 0." in capsys.readouterr().err
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["bound", "packs", "none.csv", "--verbose"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_for_completion(shell, capsys):
    assert main(["--completion", shell]) == 0
    assert "_COSCHED_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("solve pa", ["packs"]),
        ("solve packs times.csv --algorithm pair", ["pairs"]),
        ("solve cluster log.csv --algorithm cons", ["conservative"]),
        (
            "compare packs times.csv --algorithms optimal,random-p",
            [
                "optimal,random-pack-1",
                "optimal,random-pack-9",
                "optimal,random-proc-1",
                "optimal,random-proc-9",
            ],
        ),
        ("compare cluster log.csv --policies F", ["FCFS"]),
        ("bound packs times.csv --bound c", ["columns"]),
        ("audit log.csv --reference con", ["conservative"]),
    ],
)
def test_a_shell_gets_completions(line, completions, monkeypatch, capsys):
    words = ["cosched", *line.split()]
    monkeypatch.setenv("_COSCHED_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert main([]) == 0
    assert capsys.readouterr().out.split() == [f"plain,{text}" for text in completions]


def test_the_version_has_a_short_option(capsys):
    assert main(["-V"]) == 0
    assert capsys.readouterr().out.strip() == cs.__version__


@pytest.mark.parametrize("words", [["--out", "table.md"], ["--out=table.md"]])
def test_out_is_an_older_name_of_output(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text("task,1,2\na,4,2\nb,3,2\n")
    assert main(["compare", "packs", "times.csv", "--algorithms", "pairs", *words]) == 0
    assert "pairs" in (tmp_path / "table.md").read_text()


QUEUE = "submit,tasks,cpu,memory,runtime\n0,4,1.0,0.3,3600\n30,1,0.5,0.1,60\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--from 5000", "queue.csv: --from: 5000.0 is for .swf logs only"),
        ("--min-runtime=-3", "queue.csv: --min-runtime: -3: expected seconds >= 0"),
        ("--memory-per-node 2GB", "queue.csv: --memory-per-node: '2GB' is for .swf logs only"),
        ("--max-bytes many", "--max-bytes: 'many': expected a number of bytes, such as 2GB"),
        ("--drop tall", "--drop: 'tall': expected some of too-wide"),
        ("--accounts .", "--accounts: '.': used with a slurm.conf only: expected a machine"),
        ("--slurm-version 22.05", "--slurm-version: '22.05': used with a slurm.conf only"),
        (
            "--machine machine.toml --slurm-version 22.05",
            "machine.toml: --slurm-version is for a slurm.conf only",
        ),
    ],
)
def test_a_message_speaks_of_the_options_that_were_typed(
    words, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("queue.csv").write_text(QUEUE)
    Path("machine.toml").write_text("[[nodes]]\ncount = 8\ncores = 1\n")
    machine = [] if "--machine" in words else ["--nodes", "8"]
    command = ["audit", "queue.csv", *machine, *words.split(), "-o", "a.html"]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith(f"cosched: error: {message}")
    assert not Path("a.html").exists()


def test_a_name_in_a_file_is_no_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("jobs.json").write_text('{"nodes": 0, "jobs": {}}')
    assert main(["audit", "jobs.json", "-o", "a.html", "--min-runtime", "3"]) == 2
    assert "--nodes" not in capsys.readouterr().err
