"""Every public name of the package, called with one hostile argument beside good ones.

`fuzz_arguments.py SEED SECONDS` calls at random and prints how many calls there were, and how many
were refused; the first wrong one ends it. `fuzz_arguments.py --all [--share N] [--without-guard]`
calls each function with each (each N-th) hostile value of `VALUES` for each of its parameters, and
prints what came of it by kind. An error is one of `cosched.errors`, or a TypeError that names an
argument; where a path is given, an OSError too.
"""

from __future__ import annotations

import contextlib
import faulthandler
import inspect
import io
import itertools
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cosched.border

if "--without-guard" in sys.argv:  # what an argument would do without it
    cosched.border._guard = lambda function: function
    cosched.border._generator_guard = lambda function: function

import fuzz_hostile
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from fuzz_hostile import NoArray, Odd
from fuzz_public import GOOD as GOOD_BY_NAME, INSTANCES, RESULTS, targets
from fuzz_records import EXECUTION

import cosched as cs
import toy_studies
from cosched.border_values import resolved_hints, words_of
from cosched.registry import FAMILIES, family

#: Seconds for a call, by the package's own limit and by the clock.
LIMIT, MAX_SECONDS = 0.3, 3
#: Bytes of memory that this process may have.
MAX_MEMORY = 6 << 30
MODULES = (*FAMILIES, "workloads", "plot", "profiles", "execution", "experiments", "library",
           "workflows", "io")  # fmt: skip
#: Errors of the caller's own functions and files, which the package passes on.
OF_FILES = ("path", "out", "folder", "journal", "outputs", "runs", "slowdowns", "history", "json",
            "rightsize", "accounts", "snapshot", "machine", "run_times", "schedule")  # fmt: skip
#: What a function is asked with by name fills tables of the whole process, or asks the network.
LEFT_OUT = {"workloads.fetch", "cluster.register_policy", "register"}
#: Classes of Python's own making, whose call has arguments of Python.
ENUMERATIONS = {"cluster.FitVerdict": "value"}
#: Arguments without which a call would start many processes.
ALWAYS = {"experiments.run": {"workers": 0, "quick": True}}

VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "fraction": lambda: 1.5,
    "negative fraction": lambda: -0.5,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: -float("inf"),
    "tiny": lambda: 5e-324,
    "huge": lambda: 1.7e308,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "400 digits": lambda: 10**400,
    "complex": lambda: 1j,
    "numpy integer": lambda: np.int8(3),
    "empty text": lambda: "",
    "text": lambda: "nonsense",
    "text of lines": lambda: "a\nb",
    "text with a zero": lambda: "a\x00b",
    "surrogate": lambda: "\ud800",
    "long text": lambda: "x" * 5000,
    "bytes": lambda: b"1",
    "path": lambda: Path("nothing.csv"),
    "empty list": list,
    "empty mapping": dict,
    "list of None": lambda: [None],
    "list of texts": lambda: ["a", "b"],
    "list of lists": lambda: [[]],
    "ragged": lambda: [[1, 2], [3]],
    "negative numbers": lambda: [-1, -2, -3],
    "list with nan": lambda: [1.0, float("nan"), 2.0],
    "mapping": lambda: {"a": 1},
    "mapping of None": lambda: {None: None},
    "set": lambda: {1, 2},
    "generator": lambda: (k for k in range(3)),
    "huge range": lambda: range(2**62),
    "endless": itertools.count,
    "slice": lambda: slice(1, 2),
    "Ellipsis": lambda: Ellipsis,
    "function": lambda: lambda *arguments, **named: 1,
    "class": lambda: Odd,
    "odd": Odd,
    "no array": NoArray,
    "module": lambda: cs.packs,
    "no dimension": lambda: np.array(1.0),
    "empty array": lambda: np.zeros((0, 0)),
    "array of nan": lambda: np.full((3, 3), np.nan),
    "array of objects": lambda: np.array([None, "a"], dtype=object),
    "array of texts": lambda: np.array(["a", "b"]),
    "masked array": lambda: np.ma.masked_all(3),
    "six dimensions": lambda: np.zeros((1,) * 6),
    "empty table": pd.DataFrame,
    "table": lambda: pd.DataFrame({"a": [1, 2], "task": [0, 0]}),
    "series": lambda: pd.Series([1.0, None]),
}

PACKS = cs.packs.sequential(cs.packs.Instance([[0.1, 0.1], [0.1, 0.1]], names=["a", "b"]))
CODES = cs.execution.Codes(
    procs=2,
    codes={name: cs.execution.Code(name=name, command=("true",), counts=(1, 2)) for name in "ab"},
)
TASK = cs.execution.BatchTask(name="a", seconds={1: 60.0}, commands={1: ("true",)})
COURSE = cs.workflows.Course({"cores": 2})
MEASURED = cs.execution.guarantee([[8.0, 5.0], [6.0, 4.0]])
BATCHES = cs.execution.batch([TASK], limit=120.0, cores=2)
RELAXATION = cs.dags.hlp(INSTANCES["dags"])
TABLES = {
    "workloads": lambda: cs.workloads.lublin(5, 8, seed=0),
    "io": lambda: pd.DataFrame({"a": [1.0]}),
}

#: Good values of required parameters; "module.name.parameter", "module.parameter", "parameter".
GOOD: dict[str, Callable[[], Any]] = {
    "execution.schedule": lambda: PACKS,
    "execution.codes": lambda: CODES,
    "execution.Codes.codes": lambda: dict(CODES.codes),
    "execution.runs": lambda: "runs.csv",
    "execution.tasks": lambda: (TASK,),
    "execution.Execution.tasks": lambda: EXECUTION.tasks,
    "execution.measured": lambda: [[8.0, 5.0], [6.0, 4.0]],
    "execution.measure": lambda: lambda task, count: 4.0,
    "execution.family": lambda: "packs",
    "execution.launcher": lambda: "local",
    "execution.Plan.steps": lambda: cs.execution.Plan.of(PACKS).steps,
    "execution.Batches.problem": lambda: BATCHES.problem,
    "execution.Batches.durations": lambda: BATCHES.durations,
    "execution.Batches.allocations": lambda: BATCHES.allocations,
    "execution.result": lambda: PACKS,
    "execution.Guarantee.plan": lambda: MEASURED.plan,
    "execution.lower": lambda: MEASURED.lower,
    "execution.upper": lambda: MEASURED.upper,
    "execution.Guarantee.bound": lambda: 1.0,
    "execution.Batches.bound": lambda: 1.0,
    "execution.Batches.licences": lambda: (),
    "execution.Advice.bound": lambda: PACKS.bound,
    "execution.seconds": lambda: {1: 60.0},
    "execution.commands": lambda: {1: ("true",)},
    "execution.command": lambda: ("true",),
    "execution.units": lambda: (0, 1),
    "workflows.execution": lambda: EXECUTION,
    "workflows.course": lambda: COURSE,
    "workflows.jobs": lambda: ["a", "b"],
    "workflows.seconds": lambda: np.array([2.0, 3.0]),
    "workflows.Plan.seconds": lambda: 3.0,
    "workflows.bound": lambda: 3.0,
    "workflows.spans": lambda: {"a": (0.0, 2.0)},
    "workflows.needs": lambda: [{"cores": 1}, {"cores": 1}],
    "workflows.Ready.needs": lambda: {"cores": 1},
    "workflows.capacity": lambda: {"cores": 2},
    "workflows.edges": lambda: [(0, 1)],
    "workflows.sentence": lambda: "a sentence",
    "library.name": lambda: "packs/no-such-instance",
    "library.schedule": lambda: PACKS,
    "experiments.name": lambda: "toy_studies:TOY",
    "experiments.Study.name": lambda: "toy",
    "experiments.plan": lambda: toy_studies.plan,
    "experiments.run": lambda: toy_studies.run,
    "experiments.tables": lambda: dict,
    "experiments.Study.tables": lambda: lambda frame: {},
    "experiments.frame": lambda: pd.DataFrame({"value": [1.0]}),
    "experiments.folder": lambda: ".",
    "experiments.out": lambda: Path("study"),
    "experiments.family_name": lambda: "packs",
    "experiments.names": lambda: ["optimal"],
    "cluster.machine": lambda: cs.cluster.Machine([cs.cluster.NodeType("a", 4, 2, 8.0, 0)]),
    "cluster.snapshot": lambda: "now.json",
    "cluster.history": lambda: "sacct.txt",
    "cluster.from_sacct.path": lambda: "sacct.txt",
    "cluster.from_swf.path": lambda: "log.swf",
    "cluster.vary": lambda: {"bf_interval": [30, 60]},
    "cluster.name": lambda: "EASY",
    "cluster.dfrs.name": lambda: "GreedyPM */per/OPT=MIN/MINVT=600",
    "profiles.table": lambda: cs.io.parse_csv("task,1,2\na,8,5\n", "x.csv"),
    "workloads.path": lambda: "log.swf",
    "workloads.algorithm": lambda: "heft",
    "workloads.week": lambda: 0,
    "dags.algorithm": lambda: "heft",
    "dags.HlpRelaxation.x": lambda: RELAXATION.x,
    "io.frame": lambda: pd.DataFrame({"a": [1.0]}),
    "io.header": lambda: ["a", "b"],
    "io.cells": lambda: ["1", "2"],
    "io.place": lambda: "x.csv:2",
    "io.text": lambda: "1",
    "io.where": lambda: "x.csv",
    "io.low": lambda: 0,
    "io.high": lambda: 9,
    "io.suffixes": lambda: (".csv", ".json", ".md"),
    "io.names": lambda: ["a", "b"],
    "io.items": lambda: [1, 2],
    "io.size": lambda: 5,
    "io.data": lambda: {"a": 1.0},
    "io.value": lambda: {"a": 1.0},
    "io.lines": lambda: [1, 2, 3],
}

FILES = {
    "runs.csv": "task,processors,seconds\na,1,8\na,2,5\nb,1,6\nb,2,4\n",
    "log.swf": "; MaxProcs: 8\n" + "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n" * 1,
    "sacct.txt": "JobID|User|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS\n"
    "1|u|COMPLETED|2026-01-02T08:46:13|2026-01-02T08:46:14|2026-01-02T08:46:18|00:00:04|"
    "00:05:00|1|2\n",
    "x.csv": "task,1,2\na,8,5\nb,6,4\n",
    "x.json": '{"times": [[8, 5], [6, 4]], "max_tasks": 2}',
}


class Called(NamedTuple):
    """A public name, and how it is called."""

    label: str
    call: Callable[..., Any]
    module: str


def public_names() -> Iterator[Called]:
    """Functions and classes of all modules, and the methods of instances, schedules, results."""
    seen = set()
    for target in targets():
        seen.add(target.label)
        yield Called(target.label, target.call, target.family)
    for module in MODULES:
        for name in getattr(cs, module).__all__:
            thing = getattr(getattr(cs, module), name)
            label = f"{module}.{name}"
            if callable(thing) and label not in seen:
                yield Called(label, thing, module)
    yield Called("register", cs.register, "registry")
    yield Called("time_limit", cs.time_limit, "core")


def parameters_of(called: Called) -> list[inspect.Parameter]:
    """Those that can be given by name."""
    parameters = inspect.signature(called.call).parameters.values()
    only = ENUMERATIONS.get(called.label)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p for p in parameters if p.kind in kinds and only in (None, p.name)]


def good_value(called: Called, parameter: inspect.Parameter) -> Any:
    """A value that the function takes for a parameter that it requires."""
    name = parameter.name
    for key in (f"{called.label}.{name}", f"{called.module}.{name}"):
        if key in GOOD:
            return GOOD[key]()
    of = called.module if called.module in FAMILIES else "packs"
    if called.module == "plot":
        of = "dags"
    usual = {"instance": INSTANCES[of], "result": RESULTS[of], "schedule": RESULTS[of].schedule}
    usual["name"] = family(of).default_bound if called.module in FAMILIES else "pairs"
    if name in usual:
        return usual[name]
    for key in (f"{called.label}.{name}", f"{called.module}.{name}", name):
        if key in GOOD_BY_NAME:
            return GOOD_BY_NAME[key]()
    words = words_of(resolved_hints(called.call).get(name, str))
    simple = {"a number": 1.0, "an integer": 1, "true or false": False, "a text": "x"}
    simple |= {"a mapping": {}, "a list": [], "an array": np.ones(3), "a path": "x.json"}
    return next((value for part, value in simple.items() if words.startswith(part)), None)


def arguments_of(called: Called, hostile: str, value: Any) -> dict[str, Any]:
    """A call with one hostile value, and good ones of what is required beside it."""
    arguments: dict[str, Any] = {}
    for parameter in parameters_of(called):
        if parameter.name == hostile:
            arguments[hostile] = value
        elif parameter.default is parameter.empty:
            arguments[parameter.name] = good_value(called, parameter)
        elif parameter.name == "time_limit":
            arguments["time_limit"] = LIMIT
    return arguments | ALWAYS.get(called.label, {})


class TakesLong(BaseException):
    """A call that took more time than all others."""


def _end_call(*_: Any) -> None:
    raise TakesLong


def outcome_of(called: Called, arguments: dict[str, Any]) -> tuple[str, str]:
    """The kind of what came of a call, and its message."""
    signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS)
    silent = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    try:
        with silent[0], silent[1], cs.time_limit(LIMIT):
            outcome = called.call(**arguments)
            if inspect.isgenerator(outcome):
                next(outcome, None)
            elif isinstance(outcome, cosched.border.GuardedContext):
                with outcome:
                    pass
        return "returned", ""
    except TakesLong:
        return "took long", ""
    except cs.CoschedError as error:
        return "an error of cosched", str(error)
    except Exception as error:
        return _kind_of(called, arguments, error), f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        plt.close("all")


def _kind_of(called: Called, arguments: dict[str, Any], error: Exception) -> str:
    """Of an error that is none of the package."""
    if cosched.border._is_documented(called.call, error):
        return "an error that the docstring names"
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and last.tb_frame.f_code.co_filename == fuzz_hostile.__file__:
        return "an error of the caller's own object"
    if isinstance(error, OSError) and any(name in arguments for name in OF_FILES):
        return "an OSError of a file"
    named = (re.search(rf"\b{re.escape(name)}\b", str(error)) for name in arguments)
    if isinstance(error, TypeError) and any(named):
        return "a TypeError that names the argument"
    if isinstance(error, MemoryError):
        return "MemoryError"
    return f"{type(error).__name__} that names no argument"


ALLOWED = {
    "returned", "took long", "an error of cosched", "an error that the docstring names",
    "an error of the caller's own object", "an OSError of a file",
    "a TypeError that names the argument",
}  # fmt: skip


def is_allowed(kind: str, message: str) -> bool:
    return kind in ALLOWED and "\n" not in message and len(message) < 2500


def shown_call(called: Called, arguments: dict[str, Any]) -> str:
    parts = []
    for name, value in arguments.items():
        try:
            text = repr(value)
        except Exception as error:
            text = f"<{type(value).__name__}: {type(error).__name__}>"
        parts.append(f"{name}={text[:120]}")
    return f"{called.label}({', '.join(parts)})"


NAMES = sorted((c for c in public_names() if c.label not in LEFT_OUT), key=lambda c: c.label)


def one_argument(rnd: random.Random) -> tuple[str, str]:
    """A random call: what came of it, and its message."""
    called = rnd.choice(NAMES)
    parameters = parameters_of(called)
    hostile = rnd.choice(parameters).name if parameters else ""
    arguments = arguments_of(called, hostile, VALUES[rnd.choice(list(VALUES))]())
    kind, message = outcome_of(called, arguments)
    if not is_allowed(kind, message):
        raise AssertionError(f"{shown_call(called, arguments)}: {kind}: {message}"[:3000])
    return kind, message


def every_argument() -> int:
    """All calls: what came of them by kind, and the functions with calls that were wrong."""
    share = int(sys.argv[sys.argv.index("--share") + 1]) if "--share" in sys.argv else 1
    offset = int(sys.argv[sys.argv.index("--offset") + 1]) if "--offset" in sys.argv else 0
    counts: Counter[str] = Counter()
    number = 0
    wrong: dict[str, list[str]] = {}
    for called in NAMES:
        begun = time.monotonic()
        for parameter in parameters_of(called):
            for name, make in VALUES.items():
                number += 1
                if (number + offset) % share:
                    continue
                faulthandler.dump_traceback_later(60, exit=True)
                arguments = arguments_of(called, parameter.name, make())
                kind, message = outcome_of(called, arguments)
                counts[kind] += 1
                if kind == "took long" and "--times" in sys.argv:
                    print(
                        f"took long: {shown_call(called, arguments)}", file=sys.stderr, flush=True
                    )
                if not is_allowed(kind, message):
                    place = f"{called.label}({parameter.name})"
                    wrong.setdefault(place, []).append(f"{name}: {message[:160]}")
                    failure_line = f"{place}: {name}: {message[:160]}"
                    print(failure_line.encode("utf-8", "replace").decode(), flush=True)
        if "--times" in sys.argv:
            print(f"{time.monotonic() - begun:8.2f} s {called.label}", file=sys.stderr, flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(f"{sum(counts.values())} calls of {len(NAMES)} names")
    for kind, count in counts.most_common():
        print(f"{count:8d} {kind}")
    return len(wrong)


def prepare() -> tempfile.TemporaryDirectory[str]:
    """A folder with small files, limits of memory and time, and nothing on a screen."""
    folder = tempfile.TemporaryDirectory(prefix="cosched-fuzz-")
    os.chdir(folder.name)
    for name, text in FILES.items():
        Path(name).write_text(text)
    mpl.use("Agg")
    warnings.simplefilter("ignore")
    faulthandler.enable()
    cs.workloads.lublin(2, 8, seed=0)  # The first call imports scipy, which takes seconds.
    signal.signal(signal.SIGALRM, _end_call)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, hard))
    del soft
    return folder


def main() -> int:
    with prepare():
        if "--all" in sys.argv:
            code = every_argument()
        else:
            rnd = random.Random(int(sys.argv[1]))
            end, calls, refused = time.monotonic() + float(sys.argv[2]), 0, 0
            while time.monotonic() < end:
                faulthandler.dump_traceback_later(60, exit=True)
                kind, _ = one_argument(rnd)
                calls += 1
                refused += kind != "returned"
            print(calls, refused)
            code = 0
        os.chdir("/")
    return min(code, 1)


if __name__ == "__main__":
    sys.exit(main())
