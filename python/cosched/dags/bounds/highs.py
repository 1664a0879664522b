"""Linear programmes given to HiGHS."""

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cosched import _core
from cosched.errors import SolverError, optional

#: Entries from which a model is solved in a process of its own, which can be ended at once: HiGHS
#: presolves a large model for seconds before it looks at its clock, and hears of no Ctrl-C.
APART_FROM = 300_000
_LOOKS_EVERY = 0.02  # seconds
_CHILD = "import sys; from cosched.dags.bounds import highs; highs.solve_file(sys.argv[1])"

Solution = tuple[float, np.ndarray, np.ndarray]


def lp_of(model: Mapping[str, Any]) -> Any:
    """A model of the C++ side as a ``highspy.HighsLp``."""
    from scipy import sparse

    highspy = optional("highspy", extra="highs")
    rows, columns = len(model["row_lower"]), len(model["cost"])
    is_nonzero = model["value"] != 0
    entries = model["value"][is_nonzero], (model["row"][is_nonzero], model["col"][is_nonzero])
    by_column = sparse.coo_array(entries, shape=(rows, columns)).tocsc()
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = rows, columns
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = model["cost"], model["lower"], model["upper"]
    lp.row_lower_, lp.row_upper_ = model["row_lower"], model["row_upper"]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = by_column.indptr.astype(np.int32)
    lp.a_matrix_.index_ = by_column.indices.astype(np.int32)
    lp.a_matrix_.value_ = by_column.data
    return lp


def solved(model: Mapping[str, Any]) -> Solution:
    """Optimum, a value a column and a price a row; obeys a time limit around it, and Ctrl-C."""
    optional("highspy", extra="highs")
    runs_in_process = len(model["value"]) >= APART_FROM
    outcome = _solved_apart(model) if runs_in_process else _solved_here(model)
    _core.check_interrupt()
    return outcome


def _solved_here(model: Mapping[str, object]) -> Solution:
    highspy = optional("highspy", extra="highs")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(lp_of(model))
    _core.check_interrupt()
    if math.isfinite(seconds_left := _core.seconds_left()):
        solver.setOptionValue("time_limit", max(0.0, seconds_left))
    solver.run()
    _core.check_interrupt()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SolverError(f"HiGHS: {solver.modelStatusToString(solver.getModelStatus())}")
    solution = solver.getSolution()
    value = solver.getInfo().objective_function_value
    return value, np.array(solution.col_value), np.array(solution.row_dual)


def _solved_apart(model: Mapping[str, Any]) -> Solution:
    """Return the same in a process of its own, which gets and gives arrays in a folder."""
    with tempfile.TemporaryDirectory(prefix="cosched-highs-") as folder:
        for name, array in model.items():
            _core.check_interrupt()
            np.save(Path(folder) / f"{name}.npy", array)
        paths = os.pathsep.join(sys.path)  # the process finds the package where this one found it
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, folder],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C of the terminal comes to this process alone
        )
        try:
            while True:
                try:
                    _, words = child.communicate(timeout=_LOOKS_EVERY)
                    break
                except subprocess.TimeoutExpired:
                    _core.check_interrupt()
        finally:
            if child.poll() is None:
                child.kill()
                child.communicate()
        if child.returncode != 0:
            last = words.decode(errors="replace").strip().rpartition("\n")[2]
            raise SolverError(last or f"HiGHS: its process ended with {child.returncode}")
        with np.load(Path(folder) / "solution.npz") as solution:
            return float(solution["value"]), solution["columns"], solution["rows"]


def solve_file(folder: str) -> None:
    """What the process of its own does: the model's arrays in a folder to ``solution.npz``."""
    try:
        model = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
        value, columns, rows = _solved_here(model)
    except SolverError as error:
        raise SystemExit(str(error)) from error
    np.savez(Path(folder) / "solution.npz", value=value, columns=columns, rows=rows)
