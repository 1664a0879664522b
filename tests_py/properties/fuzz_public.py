"""One random call of a public function with hostile arguments among good ones."""

import inspect
import re
import resource
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from fuzz_hostile import hostile
from fuzz_input import rnd

import cosched as cs
from cosched.registry import FAMILIES, family

#: Peak memory that one call may add (bytes).
MOST_MEMORY = 1e9
#: A budget around each call (s): what is large and valid ends there.
SECONDS = 2.0
_TIMES = [[8.0, 4.5, 3.2], [6.0, 3.4, 2.6], [4.0, 2.6, 2.0]]
_JOBS = {"submit": [0, 5, 9], "tasks": [2, 1, 1], "cpu": [1, 0.5, 0.3], "memory": [0.3, 0.1, 0.5],
         "runtime": [60, 30, 40]}  # fmt: skip
_ETC, _APC = [[10, 5], [8, 12], [3, 4]], [[90, 200], [80, 100], [70, 60]]

INSTANCES: dict[str, Any] = {
    "packs": cs.packs.Instance(_TIMES, 2, names=["a", "b", "c"]),
    "moldable": cs.moldable.Instance(_TIMES, [1, 2, 3]),
    "dags": cs.dags.Instance(np.array(_TIMES)[:, :2], [(0, 1)], (2, 1)),
    "bags": cs.bags.Instance([4, 3, 2], [2, 1], _ETC, _APC, price=9000),
    "cluster": cs.cluster.Instance(_JOBS, 4),
}
_NAMES = {"packs": "optimal", "moldable": "demt", "dags": "heft", "bags": "ttb", "cluster": "EASY"}
RESULTS = {name: family(name).solve(INSTANCES[name], _NAMES[name]) for name in FAMILIES}

#: Good values by the name of a parameter; "family.name" comes first.
GOOD: dict[str, Callable[[], Any]] = {
    "path": lambda: rnd.choice(["x.json", "x.csv", "no.swf", "folder"]),
    "seed": lambda: rnd.randrange(9),
    "time_limit": lambda: 0.05,
    "work": lambda: 100,
    "limit": lambda: 10,
    "draws": lambda: 1,
    "max_tasks": lambda: 2,
    "procs": lambda: 3,
    "packs.procs": lambda: [1, 1, 1],
    "packs.one_pack.procs": lambda: 3,
    "packs.one_pack_dynamic_programme.procs": lambda: 3,
    "pack_of": lambda: [0, 0, 1],
    "times": lambda: _TIMES,
    "dags.times": lambda: np.array(_TIMES)[:, :2],
    "weights": lambda: [1, 2, 3],
    "edges": lambda: [(0, 1)],
    "units": lambda: (2, 1),
    "allocation": lambda: [0, 1, 0],
    "x": lambda: np.full((3, 2), 0.5),
    "order": lambda: [0, 1, 2],
    "upper": lambda: 9.0,
    "jobs": lambda: cs.cluster.Instance(_JOBS, 4).jobs,
    "moldable.jobs": lambda: [0, 2],
    "nodes": lambda: 4,
    "mapping": lambda: [[0, 1], [2], [3]],
    "cpu": lambda: [1, 0.5, 0.3],
    "memory": lambda: [0.3, 0.1, 0.5],
    "cluster.tasks": lambda: [2, 1, 1],
    "yield_": lambda: 0.5,
    "t1": lambda: [8.0, 6.0],
    "A": lambda: [3.0, 2.0],
    "sigma": lambda: [1.0, 0.0],
    "job": lambda: 1,
    "processors": lambda: 2,
    "counts": lambda: [[4, 0], [0, 3], [1, 1]],
    "bags.Instance.counts": lambda: [4, 3, 2],
    "bags.machines": lambda: [2, 1],
    "machines": lambda: 3,
    "etc": lambda: _ETC,
    "apc": lambda: _APC,
    "price": lambda: 9000,
    "makespan": lambda: 30.0,
    "relaxation": lambda: cs.bags.relaxation(INSTANCES["bags"], 30.0),
    "loads": lambda: [0.0, 1.0],
    "count": lambda: 5,
    "length": lambda: 2.0,
    "load": lambda: 0.7,
    "key": lambda: "k",
    "make": lambda: lambda: 1,
    "row": lambda: 0,
    "policy": lambda: lambda: None,
    "function": lambda: lambda instance, *, seed: None,
    "family_name": lambda: "packs",
    "n": lambda: 5,
    "m": lambda: 3,
    "k": lambda: 2,
    "q": lambda: 2,
    "tiles": lambda: 2,
    "width": lambda: 3,
    "phases": lambda: 2,
    "density": lambda: 0.5,
    "workloads.moldable.kind": lambda: "mixed",
    "measured": lambda: {"a": {1: 8.0, 4: 3.0}, "b": {1: 6.0, 4: 2.0}},
    "shape": lambda: (3, 3),
    "values": lambda: [[8.0, None]],
    "name": lambda: "times",
    "ndim": lambda: 2,
    "unclaimed": lambda: {},
    "fit": lambda: "amdahl",
    "extrapolate": lambda: True,
    "profiles.counts": lambda: "all",
    "ax": lambda: plt.figure().gca(),
    "data": lambda: {"placements": []},
    "most": lambda: 3,
}
#: The network, what fills a table of the whole process, words that messages begin with.
LEFT_OUT = {"workloads.fetch", "cluster.register_policy", "profiles.times_of_json.name"}
#: Words of users' own code: what they raise is theirs.
THEIRS = {"policy", "make", "function"}


class Target(NamedTuple):
    label: str
    call: Callable[..., Any]
    family: str


def targets() -> Iterator[Target]:
    """Every public function, and the public methods of instances, schedules and results."""
    for name in (*FAMILIES, "workloads", "plot", "profiles"):
        module = getattr(cs, name)
        for public in module.__all__:
            thing = getattr(module, public)
            if inspect.isfunction(thing) or inspect.ismethod(thing):
                yield Target(f"{name}.{public}", thing, name)
    for name in FAMILIES:
        of, result = INSTANCES[name], RESULTS[name]
        things = {"Instance": of, "Schedule": result.schedule, "Result": result}
        for kind, thing in things.items():
            for method in dir(thing):
                if not method.startswith("_") and inspect.ismethod(getattr(type(thing), method, 0)):
                    yield Target(f"{name}.{kind}.{method}", getattr(type(thing), method), name)
                elif not method.startswith("_") and inspect.isfunction(
                    getattr(type(thing), method, 0)
                ):
                    yield Target(f"{name}.{kind}.{method}", getattr(thing, method), name)
            if kind != "Result":
                yield Target(f"{name}.{kind}", type(thing), name)


TARGETS = sorted((t for t in targets() if t.label not in LEFT_OUT), key=lambda t: t.label)


def good(target: Target, parameter: str) -> Any:
    """A good value of a parameter; a hostile one where none is known."""
    if parameter == "instance" and target.family in INSTANCES:
        return INSTANCES[target.family]
    if parameter in ("result", "schedule") and target.family in RESULTS:
        result = RESULTS[target.family]
        return result if parameter == "result" else result.schedule
    if parameter == "frame" and target.family in RESULTS:
        return RESULTS[target.family].schedule.to_frame()
    if target.family == "plot":
        result = RESULTS[rnd.choice(FAMILIES)]
        drawn = {"instance": result.instance, "schedule": result.schedule, "result": result}
        if parameter in drawn:
            return drawn[parameter]
    if parameter == "name" and target.family in FAMILIES:
        return _NAMES[target.family]
    if parameter == "names" and target.family in FAMILIES:
        return [_NAMES[target.family]]
    for key in (f"{target.label}.{parameter}", f"{target.family}.{parameter}", parameter):
        if key in GOOD:
            return GOOD[key]()
    return hostile()


def arguments(target: Target) -> dict[str, Any]:
    """Good arguments of a call, one or two of them hostile."""
    arguments: dict[str, Any] = {}
    parameters = list(inspect.signature(target.call).parameters.values())
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    chosen = rnd.sample(named, min(len(named), rnd.choice([1, 1, 1, 2])))
    for p in named:
        if p in chosen and f"{target.label}.{p.name}" not in LEFT_OUT:
            arguments[p.name] = hostile()
        elif p.default is p.empty or (p.name == "time_limit" or rnd.random() < 0.2):
            arguments[p.name] = good(target, p.name)
    if any(p.kind is p.VAR_KEYWORD for p in parameters) and rnd.random() < 0.2:
        arguments[rnd.choice(["eps", "work", "nonsense", "time_limit"])] = hostile()
    return arguments


def allowed(target: Target) -> tuple[type[BaseException], ...]:
    """What a function may raise: what its docstring says besides ours; of a `path`, OSError."""
    text = inspect.getdoc(target.call) or ""
    raises = text.partition("Raises\n------\n")[2]
    extra = {"KeyError": KeyError, "IndexError": IndexError, "OSError": OSError}
    extra["AttributeError"] = AttributeError
    allowed_errors = [
        kind for name, kind in extra.items() if re.search(rf"^{name}$", raises, re.MULTILINE)
    ]
    if "path" in inspect.signature(target.call).parameters:
        allowed_errors.append(OSError)
    return (cs.CoschedError, ValueError, TypeError, *allowed_errors)


def peak() -> float:
    """Most memory of this process until now (bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def one_public(label: str | None = None) -> None:
    """Call something: a result, or what it may raise, in one line and within its budget."""
    target = rnd.choice([t for t in TARGETS if label is None or t.label == label])
    values = arguments(target)
    before = peak()
    try:
        with cs.time_limit(SECONDS):
            outcome = target.call(**values)
            if inspect.isgenerator(outcome):
                next(outcome, None)
    except Exception as error:
        argument_texts = {key: text_of(value) for key, value in values.items()}
        theirs = THEIRS & set(values) and "odd\nlines" not in str(error)
        if not isinstance(error, allowed(target)) and not theirs:
            raise AssertionError(
                f"{target.label}({argument_texts}) raises {error!r}"[:3000]
            ) from error
        if "\n" in str(error) or len(str(error)) > 2000:
            raise AssertionError(
                f"{target.label}({argument_texts}) says {str(error)!r}"[:3000]
            ) from error
        raise cs.CoschedError(f"{target.label}: refused") from None
    finally:
        plt.close("all")
        memory_growth = peak() - before
        if memory_growth > MOST_MEMORY:
            argument_texts = {key: text_of(value) for key, value in values.items()}
            raise AssertionError(
                f"{target.label}({argument_texts}) took {memory_growth / 1e9:.1f} GB"[:3000]
            )


def text_of(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}: {type(error).__name__}>"
    return text if len(text) < 300 else f"{text[:300]}... ({len(text)})"
