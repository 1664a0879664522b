"""Linear programmes given to HiGHS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosched import _core
from cosched.errors import SolverError, optional


def lp_of(model: dict[str, np.ndarray]) -> Any:
    """A model of the C++ side as a ``highspy.HighsLp``."""
    from scipy import sparse

    highspy = optional("highspy", extra="highs")
    rows, columns = len(model["row_lower"]), len(model["cost"])
    kept = model["value"] != 0
    entries = model["value"][kept], (model["row"][kept], model["col"][kept])
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


def solved(lp: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Optimum, a value a column and a price a row; obeys a time limit around it."""
    highspy = optional("highspy", extra="highs")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(lp)
    _core.check_interrupt()  # HiGHS presolves a large model before it looks at its clock
    if math.isfinite(left := _core.seconds_left()):
        solver.setOptionValue("time_limit", max(0.0, left))
    solver.run()
    _core.check_interrupt()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SolverError(f"HiGHS: {solver.modelStatusToString(solver.getModelStatus())}")
    found = solver.getSolution()
    value = solver.getInfo().objective_function_value
    return value, np.array(found.col_value), np.array(found.row_dual)
