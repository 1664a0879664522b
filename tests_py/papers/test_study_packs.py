"""packs-fig2-5: what the tables say, and the report in a real browser."""

import pandas as pd
import pytest
from web import assert_no_errors, wait

import cosched as cs
from cosched import experiments


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The quick study without local-search, which takes seconds."""
    return experiments.run("toy_studies:PACKS", out=tmp_path_factory.mktemp("packs"), workers=0)


def test_rows_are_what_the_algorithms_give(study):
    rows = study.frame[(study.frame.workload == "packs_ii") & (study.frame.draw == 1)]
    inst = cs.workloads.packs_ii(seed=1, max_tasks=4)
    rows = rows[rows.max_tasks == 4].set_index("algorithm")
    assert rows.value["(bound)"] == cs.packs.bound(inst).value
    for name in ("random-proc-9", "pack-by-pack-9"):
        result = cs.packs.solve(inst, name, seed=1)
        assert rows.value[name] == result.value
        assert rows.relative_cost[name] == result.relative_cost
    assert not len(study.errors)


def test_tables(study):
    means = study.tables["means"]
    assert len(means) == (2 + 1) * 8
    assert (means.gap >= 0).all()
    assert means.relative_cost.between(0, 1.2).all()
    approx_rows = study.frame.query("workload == 'packs_ii' and max_tasks == 4")
    mean = approx_rows[approx_rows.algorithm == "pack-approx"].relative_cost.mean()
    row = means.query("workload == 'packs_ii' and max_tasks == 4 and algorithm == 'pack-approx'")
    assert row.relative_cost.iloc[0] == pytest.approx(mean, abs=1e-4)


def test_the_paper_s_findings_hold(study):
    findings = study.tables["findings"]
    assert len(findings) == 11
    assert set(findings.verdict) == {"agrees"}
    written = pd.read_csv(study.out / "tables" / "findings.csv")
    assert written["the paper says"].tolist() == findings["the paper says"].tolist()


def test_quality_gives_what_plot_quality_takes():
    from cosched.experiments.packs import pack_quality, quality

    table = quality([cs.workloads.packs_ii(tasks=8, seed=s) for s in (0, 1)], [2, 3])
    assert len(table) == 2 * 2 * 8
    figure = pack_quality(table, "title")
    assert figure.axes[0].get_ylabel() == "relative cost"


# --- the report -----------------------------------------------------------------------------


def opened(browser, out):
    """The report."""
    browser.get((out / "report.html").as_uri())
    return browser


def column(browser, table, number):
    return browser.execute_script(
        f"return [...document.querySelectorAll('#{table} tbody tr')]"
        f".map(row => row.children[{number}].textContent)"
    )


def test_tables_of_the_report_sort(study, browser):
    page = opened(browser, study.out)
    assert "reduced size" not in page.title
    assert column(page, "table-findings", 4).count("agrees") == 11
    expected = study.tables["means"].relative_cost

    def sorted_texts():
        return [float(text) for text in column(page, "table-means", 3)]

    first = sorted_texts()
    assert first == expected.tolist()
    header = page.find_elements("css selector", "#table-means thead th")[3]
    assert header.text.strip() == "relative_cost"
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", header)
    header.click()
    wait(page, lambda: sorted_texts() == sorted(first) != first)
    header.click()
    wait(page, lambda: sorted_texts() == sorted(first, reverse=True))
    assert_no_errors(page)


def test_a_report_of_a_study_with_errors(browser, tmp_path):
    experiments.run("toy_studies:RAISES", out=tmp_path, workers=0)
    page = opened(browser, tmp_path)
    assert page.find_element("tag name", "h1").text == "A toy <study>"
    assert any("this one raises" in text for text in column(page, "errors", 5))
    assert_no_errors(page)
