"""The studies of Casanova, Stillwell, Vivien 2011, and archive logs as they ran."""

from functools import partial

from cosched.experiments.cluster import archive, readings, sections, tables, traces
from cosched.experiments.study import Functions, read_studies

STUDIES = read_studies(
    "cluster",
    {
        "cluster-table2": Functions(
            tables.plan_table2, traces.run, partial(tables.degradations, 2)
        ),
        "cluster-table3": Functions(tables.plan_table3, traces.run, tables.tables3),
        "cluster-table4": Functions(tables.plan_table4, traces.run, tables.tables4),
        "cluster-table5": Functions(
            tables.plan_table5, traces.run, partial(tables.degradations, 5)
        ),
        "cluster-fig1": Functions(
            tables.plan_figure1, traces.run, tables.tables_figure1, tables.figures1
        ),
        "cluster-fig3-4": Functions(
            tables.plan_periods, traces.run, tables.tables_periods, tables.figures_periods
        ),
        "cluster-theorems": Functions(
            sections.plan_theorems, sections.run_theorem, sections.tables_of_theorems
        ),
        "cluster-mcb8": Functions(
            sections.plan_calls, sections.run_calls, sections.tables_of_calls
        ),
        "cluster-readings": Functions(readings.plan, readings.run, readings.tables),
        "cluster-archive": Functions(archive.plan, archive.run, archive.tables),
    },
    globals(),
)
