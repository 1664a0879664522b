"""What jobs hold: CPUs, nodes, memory and GPUs out of sacct's columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cosched.cluster.files.facts import MEASURES
from cosched.cluster.files.sacct.texts import each
from cosched.lazy import pd

#: GB (2^30 bytes) of Slurm's units; without one: megabytes.
_GB = {"K": 2**-20, "M": 2**-10, "": 2**-10, "G": 1.0, "T": 2.0**10, "P": 2.0**20, "E": 2.0**30}
#: Slurm's flag of a ReqMem that is that of a CPU (2^31 MB), as old versions print it.
_PER_CPU = 2.0**21
#: GB of a job that somebody can have meant.
_MOST_GB = MEASURES["memory_gb"]
SIZE = r"([0-9]+(?:\.[0-9]+)?)([KMGTPE]?)"
#: Of nodes or CPUs.
COUNT = r"[0-9]{1,9}(?:\.0+)?"


def cpus_and_nodes(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CPUs of each job as Slurm counts them (allocated where known, else asked for), its nodes
    (nan: unknown), and whether its CPUs are only what it asked for."""
    allocated = _first_known(rows, ("AllocTRES", "AllocCPUS", "NCPUS"), "cpu")
    asked = _first_known(rows, ("ReqCPUS", "ReqTRES"), "cpu")
    nodes = _first_known(rows, ("AllocTRES", "AllocNodes", "NNodes", "ReqNodes", "ReqTRES"), "node")
    known = allocated > 0
    return np.where(known, allocated, asked), nodes, ~known


def contradicted(rows: pd.DataFrame) -> np.ndarray:
    """Whether CPUs or nodes of a job are others in AllocTRES than in the columns of their own."""
    found = np.zeros(len(rows), dtype=bool)
    for names, of_tres in ((("AllocCPUS", "NCPUS"), "cpu"), (("AllocNodes", "NNodes"), "node")):
        counted, own = (_first_known(rows, some, of_tres) for some in (("AllocTRES",), names))
        found |= (counted > 0) & (own > 0) & (counted != own)
    return found


def memory_gb(rows: pd.DataFrame, cpus: np.ndarray, nodes: np.ndarray) -> np.ndarray | None:
    """GB of the whole job: allocated, else asked for; nan where neither is known."""
    found = np.full(len(rows), np.nan)
    columns = [name for name in ("AllocTRES", "ReqTRES") if name in rows]
    for name in columns:
        found = np.where(found > 0, found, each(rows[name], lambda t: _size(_tres(t, "mem"))))
    if "ReqMem" in rows:
        # Of old versions: n = a node, c = a CPU; since 21.08 it is that of the job.
        pattern = rf"^{SIZE}([nc]?)$"
        amount = each(rows["ReqMem"], lambda t: _size(t.str.extract(pattern)))
        per = each(rows["ReqMem"], lambda t: t.str.extract(pattern)[2].fillna(""))
        flagged = (per != "") & (amount >= _PER_CPU) & (amount < 2 * _PER_CPU)
        amount, per = np.where(flagged, amount - _PER_CPU, amount), np.where(flagged, "c", per)
        times = np.select([per == "n", per == "c"], [nodes, cpus], 1.0)
        found = np.where(found > 0, found, amount * times)
    elif not columns:
        return None
    return np.where(found > 0, found, np.nan)  # --mem=0: all of its nodes


def gpus(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """GPUs of each job and their type (empty: not said); None where no column could say it."""
    columns = [name for name in ("AllocTRES", "ReqTRES") if name in rows]
    if not columns:
        return None
    count, kind = np.zeros(len(rows)), np.full(len(rows), "", dtype=object)
    held = ~rows[columns[0]].isin(("",)).to_numpy()  # an allocation without GPUs has none
    for name in columns:
        mine = ~held if name == "ReqTRES" and len(columns) == 2 else np.ones(len(rows), bool)
        count = np.where(mine, each(rows[name], _gpu_count), count)
        kind = np.where(mine, each(rows[name], _gpu_type), kind)
    return count.astype(np.int64), np.where(count > 0, kind, "").astype(str)


def cores_of(cpus: np.ndarray, nodes: np.ndarray, per_core: np.ndarray | float) -> np.ndarray:
    """Whole cores of so many CPUs; on every node one at least."""
    whole = np.ceil(cpus / per_core - 1e-9)
    return np.where(nodes > whole, nodes, whole)


# --- texts such as billing=4,cpu=4,gres/gpu:a100=2,mem=8G,node=1 ----------------------------------


def _first_known(rows: pd.DataFrame, names: tuple[str, ...], of_tres: str) -> np.ndarray:
    found = np.full(len(rows), np.nan)
    for name in (name for name in names if name in rows):
        number = each(rows[name], partial(_number, of_tres if name.endswith("TRES") else ""))
        number = number.astype(float)
        found = np.where(found > 0, found, number)
    return found


def _number(of_tres: str, texts: pd.Series) -> Any:
    counts = _tres(texts, of_tres) if of_tres else texts
    return pd.to_numeric(counts.where(counts.str.fullmatch(COUNT)), errors="coerce")


def _tres(texts: pd.Series, name: str) -> Any:
    if name == "mem":
        return texts.str.extract(rf"(?:^|,)mem={SIZE}(?:,|$)")
    return texts.str.extract(rf"(?:^|,){name}=([0-9]{{1,9}})(?:,|$)")[0]


def too_large(texts: pd.Series) -> pd.Series:
    """Whether a size in it is no job's."""
    parts = texts.str.extract(rf"(?:^|mem=){SIZE}[nc]?(?:,|$)")
    return parts[0].notna() & _size(parts).isna()


def _size(parts: Any) -> Any:
    found = (pd.to_numeric(parts[0], errors="coerce") * parts[1].map(_GB)).astype(float)
    return found.where(found <= _MOST_GB)


def _gpu_count(texts: pd.Series) -> Any:
    """``gres/gpu`` counts all, where it is there; else the sum over the types."""
    every = pd.to_numeric(_tres(texts, "gres/gpu"), errors="coerce")
    typed = texts.str.extractall(r"(?:^|,)gres/gpu:[^=,]+=([0-9]{1,9})(?=,|$)")
    summed = pd.to_numeric(typed[0]).groupby(level=0).sum().reindex(texts.index)
    return every.fillna(summed).fillna(0.0)


def _gpu_type(texts: pd.Series) -> Any:
    found = texts.str.extractall(r"(?:^|,)gres/gpu:([^=,]+)=[1-9]")
    joined = found[0].groupby(level=0).agg(",".join) if len(found) else found[0]
    return joined.reindex(texts.index).fillna("").to_numpy(dtype=object)
