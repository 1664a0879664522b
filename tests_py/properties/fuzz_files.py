"""One damaged file of a format that a reader takes; what is read is solved and written."""

import shutil
from pathlib import Path

import pandas as pd
from fuzz_input import _folder, damaged, rnd, written

import cosched as cs
from border import FORMATS

_FIRST = {"packs": "sequential", "moldable": "sequential", "dags": "eft", "bags": "min-energy",
          "cluster": "FCFS"}  # fmt: skip
BAG = {
    "ETC.csv": ",x,y\na,10,5\nb,8,12\n",
    "EPC.csv": "90,200\n80,100\n",
    "TPT.csv": ",tasks\na,4\nb,0\n",
    "MPT.csv": "2\n1\n",
    "IDLE.csv": "5\n10\n",
    "CAP.csv": "900\n",
}


def one_file() -> None:
    """Read it; what is read has a schedule that holds, and comes back from its own file."""
    if rnd.random() < 0.15:
        instance = bag_folder()
    else:
        of = FORMATS[rnd.choice(list(FORMATS))]
        text = damaged(of.text)
        if rnd.random() < 0.2:  # the end of one file, the beginning of another
            other = rnd.choice(list(FORMATS.values())).text
            text = text[: rnd.randrange(len(text) + 1)] + other[rnd.randrange(len(other)) :]
        instance = of.read(written(of.name, text))
    if not isinstance(instance, cs.core.Instance) or rnd.random() < 0.5:
        return
    family = cs.registry.family(instance.family)
    with cs.time_limit(5):
        result = family.solve(instance, _FIRST[instance.family])
    result.schedule.validate()
    result.overview()
    assert isinstance(result.schedule.to_frame(), pd.DataFrame)
    path = Path(_folder.name) / f"again-{instance.family}.json"
    instance.write(path)
    if instance.family != "bags":
        assert family.instance_type.read(path).notes is not None
    of_dict = family.schedule_type.from_dict(instance, result.schedule.to_dict())
    of_dict.validate()


def bag_folder():
    folder = Path(_folder.name) / "bag"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    chosen = rnd.choice(list(BAG))
    for name, text in BAG.items():
        if rnd.random() < 0.95:
            (folder / name).write_text(
                damaged(text) if name == chosen else text, "utf-8", "replace"
            )
    return cs.bags.Instance.read(folder, gamma=1.5, missing=rnd.choice(["refuse", "drop"]))
