"""What a command does when nobody listens to it, and when it is stopped."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import cosched as cs
from cosched.cli import main

TIMES = "task,1,2\na,8,4.5\nb,6,3.4\nc,4,2.6\n"
RUNS = "task,processors,seconds\na,1,2\nb,1,3\n"
CODES = 'procs = 1\n[task.a]\ncommand = "true"\n[task.b]\ncommand = "false"\n'
LOG = "".join(f"{job} {30 * job} 5 600 4 -1 -1 4 900 -1 1 1 1 1 1 1 -1 -1\n" for job in range(1, 9))
REFUSES = """
import cosched as cs
def refuses(instance, *, seed):
    raise cs.InvalidInstance("no")
cs.register("packs", "refuses", refuses)
"""
#: Verb -> its command (-o comes last), the file that it writes, its exit code.
COMMANDS = {
    "solve": ("solve packs times.csv --algorithm pairs -o p.json", 0),
    "solve and draw": ("solve packs times.csv --algorithm pairs --plot p.svg", 0),
    "compare": ("compare packs times.csv --algorithms pairs optimal -o p.csv", 0),
    "nothing comes of it": (
        "--import no.py compare packs times.csv --algorithms refuses -o p.csv",
        1,
    ),
    "bound": ("bound packs times.csv -o p.json", 0),
    "audit": ("audit log.swf --nodes 16 --convention rigid --time-limit 1 -o p.html", 0),
    "plan": ("plan runs.csv -o p.json", 0),
    "script": ("script made.json --codes codes.toml -o p.sh", 0),
    "run": ("run made.json --codes codes.toml --oversubscribe -o p.json", 1),
    "profile": ("profile codes.toml --repeat 1 -o p.csv", 0),
    "generate": ("generate packs_ii -o p.csv", 0),
    "ledger": ("study ledger packs-fig2-5 -o p.md", 0),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "times.csv").write_text(TIMES)
    (tmp_path / "runs.csv").write_text(RUNS)
    (tmp_path / "codes.toml").write_text(CODES)
    (tmp_path / "log.swf").write_text(f"; MaxProcs: 16\n; MaxNodes: 16\n{LOG}")
    inst = cs.packs.Instance([[1.0], [1.0]], names=["a", "b"])
    cs.io.write_json(cs.packs.sequential(inst).to_dict(), tmp_path / "made.json")
    (tmp_path / "no.py").write_text(REFUSES)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    cs.packs.ALGORITHMS.pop("refuses", None)


class Witness(io.StringIO):
    """Notes whether a file was there when the first text came."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.seen = None

    def write(self, text):
        if self.seen is None and text:
            self.seen = self.path.exists() and self.path.stat().st_size > 0
        return super().write(text)


@pytest.mark.parametrize("verb", COMMANDS)
def test_what_is_asked_for_is_written_before_anything_is_printed(verb, here, monkeypatch):
    command, code = COMMANDS[verb]
    witness = Witness(here / command.split()[-1])
    monkeypatch.setattr(sys, "stdout", witness)
    assert main(command.split()) == code
    assert witness.seen, witness.getvalue()


LEFT, CLOSED = "its reader left", "it is closed"


@pytest.mark.parametrize(
    ("verb", "how"),
    [(verb, LEFT) for verb in ("solve", "nothing comes of it", "plan", "run", "ledger")]
    + [("plan", CLOSED), ("nothing comes of it", CLOSED)]
    + [
        pytest.param(verb, CLOSED, marks=pytest.mark.thorough)
        for verb in ("solve", "run", "ledger")
    ],
)
def test_nobody_listens(verb, how, here):
    """The file is there, the exit code is that of the work, and there is no traceback."""
    command, code = COMMANDS[verb]
    name = command.split()[-1]
    read, write = os.pipe()
    os.close(read)
    close = ">&- 2>errors" if how == CLOSED else "2>errors"
    shell = f'exec "$0" -m cosched {command} {close}'
    done = subprocess.run(["bash", "-c", shell, sys.executable], stdout=write, check=False)
    os.close(write)
    errors = (here / "errors").read_text()
    assert (done.returncode, "Traceback" in errors, "Broken" in errors) == (code, False, False), (
        errors
    )
    assert (here / name).stat().st_size > 0


def test_neither_output_nor_errors(here):
    shell = f'exec "$0" -m cosched {COMMANDS["plan"][0]} >&- 2>&- <&-'
    assert subprocess.run(["bash", "-c", shell, sys.executable], check=False).returncode == 0
    assert json.loads((here / "p.json").read_text())["family"] == "packs"


def test_a_full_disk_below_the_output_is_said(here):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cosched", *COMMANDS["plan"][0].split()],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


# --- stopped -------------------------------------------------------------------------------

STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143}
#: What a search does is one code for both: SIGTERM's by night.
STOPPED = [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)]
ENDLESS = """
import pathlib, threading, time, cosched as cs
def search(instance, *, seed, pause=0):
    threading.Timer(0.5, lambda: pathlib.Path("started").write_text("")).start()
    return cs.packs.local_search(instance, work=2**50, seed=seed)
def hangs(instance, *, seed, work=1):
    if work == 1:
        return cs.packs.sequential(instance)
    pathlib.Path("started").write_text("")
    while True:
        time.sleep(0.01)
cs.register("packs", "search", search)
cs.register("packs", "hangs", hangs)
"""


def stopped(number, folder, command):
    """Exit code, output, and errors of a command that gets a signal while it is at work."""
    (folder / "own.py").write_text(ENDLESS)
    cs.workloads.packs_iii(seed=1).write(folder / "large.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "cosched", "--import", "own.py", *command.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 180
        while not (folder / "started").exists() and time.monotonic() < end:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
    assert "Traceback" not in err
    assert process.returncode == STOPS[number], err
    return out, err


@pytest.mark.parametrize("number", STOPS)
def test_stopped_while_its_arguments_are_read(number, here):
    """What is typed is read by libraries whose import takes as long as all the rest."""
    program = (
        "import os, signal, sys, click, cosched.cli\n"
        "def parse(*given, **more):\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    signal.pause()\n"
        "click.Group.parse_args = parse\n"
        "sys.exit(cosched.cli.main(['solve', 'packs', 'large.csv', '-o', 'p.json']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (STOPS[number], "cosched: interrupted\n")


@pytest.mark.parametrize("number", STOPPED)
def test_a_stopped_search_shows_and_writes_its_best(number, here):
    out, err = stopped(
        number, here, "solve packs large.csv --max-tasks 8 --algorithm search -o p.json"
    )
    assert "status time_limit: the best that was found until then" in out
    assert err == "cosched: interrupted: this is the best that was found until then\n"
    assert main(["validate", "packs", "large.csv", "p.json", "--max-tasks", "8"]) == 0


@pytest.mark.parametrize("number", STOPPED)
def test_a_stopped_algorithm_without_a_result_ends_the_command(number, here):
    _, err = stopped(
        number, here, "solve packs large.csv --algorithm hangs --option work=2 -o p.json"
    )
    assert err == "cosched: interrupted\n"
    assert not (here / "p.json").exists()


@pytest.mark.parametrize("number", STOPPED)
def test_a_stopped_comparison_shows_the_row_of_the_running_search(number, here):
    names = "--algorithms sequential --algorithms search --algorithms pack-by-pack-1"
    out, err = stopped(number, here, f"compare packs large.csv --max-tasks 8 {names} -o p.csv")
    rows = {row["algorithm"]: row for row in csv.DictReader((here / "p.csv").open())}
    assert list(rows) == ["sequential", "search"]
    assert rows["search"]["status"] == "interrupted"
    assert 0 < float(rows["search"]["value"]) <= float(rows["sequential"]["value"])
    assert "interrupted" in out
    expected_end = (
        "the 2 rows are in p.csv, that of search with what it had found; not run: pack-by-pack-1\n"
    )
    assert err.endswith(expected_end)


@pytest.mark.parametrize("number", STOPPED)
def test_a_stopped_comparison_of_one_search_shows_its_row(number, here):
    out, err = stopped(number, here, "compare packs large.csv --max-tasks 8 --algorithms search")
    assert "search" in out
    assert "interrupted" in out
    assert err.endswith("the row of search, with what it had found, is shown above\n")


AT_A_CALL = """
import os, signal, sys, cosched.cli
def tick(frame, event, argument):
    if event == "call" and frame.f_code.co_name == sys.argv[1]:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGTERM)
sys.setprofile(tick)
sys.exit(cosched.cli.main(sys.argv[2:]))
"""


@pytest.mark.parametrize("function", ["_int_to_enum", "_run", "cb", "make_context"])
def test_sigterm_while_a_command_begins(function, here):
    """Behind the handler and before the command; and where Python drops exceptions (`cb`)."""
    (here / "codes.toml").write_text('procs = 1\n[task.a]\ncommand = "sleep 5"\n')
    done = subprocess.run(
        [sys.executable, "-c", AT_A_CALL, function, "profile", "codes.toml", "-o", "p.csv"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 143, done.stderr
    assert "Traceback" not in done.stderr


#: A module that Python imports when it starts: it ends this process by a signal as soon as another
#: module is looked for.
SIGNAL_AT_AN_IMPORT = """
import importlib.abc, os, signal, sys, time
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == os.environ["SIGNAL_AT"]:
            os.kill(os.getpid(), int(os.environ["SIGNAL_NUMBER"]))
            time.sleep(60)
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("module", ["cosched.errors", "cosched.cli", "click", "cosched.version"])
@pytest.mark.parametrize("is_script", [False, True])
def test_stopped_while_the_package_is_imported(is_script, module, number, here):
    (here / "usercustomize.py").write_text(SIGNAL_AT_AN_IMPORT)
    (here / "sitecustomize.py").write_text(SIGNAL_AT_AN_IMPORT)
    (here / "cosched").write_text("import sys\nfrom cosched.cli import main\nsys.exit(main())\n")
    environment = {
        **os.environ, "PYTHONPATH": str(here), "SIGNAL_AT": module, "SIGNAL_NUMBER": f"{number:d}"
    }  # fmt: skip
    command = [str(here / "cosched")] if is_script else ["-m", "cosched"]
    done = subprocess.run(
        [sys.executable, *command, "--version"],
        capture_output=True, text=True, timeout=50, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")  # shells show 130, 143


def test_importing_the_package_changes_no_handler():
    program = (
        "import signal, cosched.cli\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "assert cosched.cli.main(['--version']) == 0\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
