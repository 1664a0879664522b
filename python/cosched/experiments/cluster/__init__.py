"""The studies of Casanova, Stillwell, Vivien 2011, and archive logs as they ran."""

from __future__ import annotations

from functools import partial

from cosched.experiments.cluster import (
    archive,
    calls,
    costs,
    degradation,
    readings,
    theorems,
    traces,
)
from cosched.experiments.study import Functions, read_studies

STUDIES = read_studies(
    "cluster",
    {
        "cluster-table2": Functions(
            degradation.plan_table2, traces.run, partial(degradation.tables, 2)
        ),
        "cluster-table3": Functions(costs.plan_table3, traces.run, costs.tables3),
        "cluster-table4": Functions(costs.plan_table4, traces.run, costs.tables4),
        "cluster-table5": Functions(
            degradation.plan_table5, traces.run, partial(degradation.tables, 5)
        ),
        "cluster-fig1": Functions(
            degradation.plan_figure1, traces.run, degradation.tables_figure1, degradation.figures1
        ),
        "cluster-fig3-4": Functions(
            costs.plan_periods, traces.run, costs.tables_periods, costs.figures_periods
        ),
        "cluster-theorems": Functions(theorems.plan, theorems.run, theorems.tables),
        "cluster-mcb8": Functions(calls.plan, calls.run, calls.tables),
        "cluster-readings": Functions(readings.plan, readings.run, readings.tables),
        "cluster-archive": Functions(archive.plan, archive.run, archive.tables),
    },
    globals(),
)
