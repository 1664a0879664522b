"""Right sizes for people: the page, the mail, exports, what it gives everybody."""

import json

import numpy as np
import pytest
import web
from right_size_log import log

import cosched as cs
from cosched.cli import main
from cosched.cluster.analysis.wording import used_in_words
from cosched.cluster.sizing.exports import FORMS, export, options_of


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "log.csv"
    cs.workloads.requests(1500, 4, seed=1).to_csv(path, index=False)
    return path


def test_command_line(csv, tmp_path, capsys):
    command = ["rightsize", str(csv), "--nodes", "64", "--risk", "0.05"]
    assert main([*command, "--json", str(tmp_path / "a.json")]) == 0
    out = capsys.readouterr().out
    assert "promised: killed at most 5% of the jobs; advice for " in out
    data = json.loads((tmp_path / "a.json").read_text())
    assert data["by"] == ["user", "name", "account", "cores"]
    assert data["advice"][0]["asked_limit"] > 0
    for wrong, message in (
        ("0", "--risk: 0"),
        ("1", "--risk: 1"),
        ("5e-324", "--risk: 4"),
        ("x", "--risk: x"),
    ):
        assert main([*command[:-1], wrong]) == 2
        assert message in capsys.readouterr().err.replace("'", "")


@pytest.mark.parametrize(("form", "line"), [
    ("snakemake", "    mem_mb: "), ("nextflow", "    time = '"), ("sbatch", "#SBATCH --time="),
])  # fmt: skip
def test_exports(csv, tmp_path, capsys, form, line):
    command = ["rightsize", str(csv), "--nodes", "64", "--risk", "0.05", "--export", form]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert line in text
    assert "killed at most 5% of the jobs" in text
    assert main([*command, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text() == text
    if form == "snakemake":
        import yaml

        steps = yaml.safe_load(text)["set-resources"]
        assert all(isinstance(step["runtime"], int) for step in steps.values() if "runtime" in step)
        assert all(name.startswith("code") and "#" not in name for name in steps)


THIN = cs.cluster.Machine((cs.cluster.NodeType("thin", 2, 16, 128.0, 0),))


@pytest.fixture(scope="module")
def found():
    jobs = cs.workloads.requests(1500, 2, load=0.9, seed=2)
    jobs["memory_gb"] = 128.0 * jobs["nodes"]  # each has its nodes alone
    jobs["user"] = np.where(jobs.index % 2, "ada", "ben")
    inst = cs.cluster.Instance(jobs, 32, machine=THIN, source="week.csv")
    return cs.cluster.rightsize(inst, 0.05)


@pytest.fixture(scope="module")
def replayed(found):
    return found.replay()


def test_smaller_requests_let_everybody_wait_less(found, replayed):
    assert replayed["who"].tolist()[:2] == ["nobody, as now", "all"]
    assert replayed["who"].tolist()[-1] == "one of them alone"
    now, then, alone = (replayed.iloc[k] for k in (0, 1, -1))
    easy = cs.cluster.solve(found.instance, "EASY", estimates="requested")
    assert now["mean_wait"] == pytest.approx(easy.metrics()["mean_wait"])
    assert (now["killed"], now["lost_core_hours"]) == (0, 0)
    assert then["mean_wait"] < now["mean_wait"]
    assert then["user_wait"] < now["user_wait"]
    assert then["reserved_core_hours"] < alone["reserved_core_hours"] < now["reserved_core_hours"]
    assert 0 < alone["killed"] <= then["killed"] <= 0.05 * 1500


def test_a_killed_job_comes_again_when_it_is_killed():
    """Of 200 jobs, one after another, the first four use more memory than is advised."""
    inst = log(submit=86400.0 * np.arange(200), used_memory_gb=0.3 * np.arange(200, 0, -1))
    table = cs.cluster.rightsize(inst, 0.05).replay()
    assert table["killed"].tolist() == [0, 4, 4]
    assert table["mean_wait"][0] == 0
    # They ran 1 to 4 minutes in vain, which they waited.
    assert table["lost_core_hours"][1] == pytest.approx(10 / 60)
    assert table["mean_wait"][1] == pytest.approx(600 / 200)


def test_the_twin_replays_where_there_is_a_slurm_conf(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
        "NodeName=n[1-2] CPUs=16 RealMemory=131072\nPartitionName=main Nodes=ALL Default=YES\n"
    )
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    jobs = cs.workloads.requests(200, 2, load=0.9, seed=2)
    jobs["memory_gb"] = 128.0 * jobs["nodes"]
    inst = cs.cluster.Instance(jobs, 32, machine=machine)
    table = cs.cluster.rightsize(inst, 0.2).replay()
    waits = table[table["policy"] == "slurm-backfill"]["mean_wait"].to_numpy()
    assert len(waits) == len(table) // 2
    assert waits[1] < waits[0]
    assert (table["message"] == "").all()


def test_a_policy_without_a_result_says_why():
    table = cs.cluster.rightsize(log(tasks=[9] + [1] * 199), 0.05).replay()
    assert np.isnan(table["mean_wait"]).all()
    assert table["message"].str.contains("job 0").all()


@pytest.fixture(scope="module")
def page_of_all(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "all.html"
    found.write(path)
    return path


def test_page_and_mail(found, page_of_all, tmp_path):
    page = page_of_all.read_text()
    assert "1,500 jobs used " in page
    assert "they would wait" in page
    assert "http" not in page
    user = found.advice["user"][0]
    found.write(tmp_path / "one.html", user)
    others = set(found.advice["user"]) - {user}
    user_page = (tmp_path / "one.html").read_text()
    assert f"Hello {user}" in user_page
    assert not any(f"<td>{name}</td>" in user_page for name in others)
    found.write(tmp_path / "one.txt", user)
    mail = (tmp_path / "one.txt").read_text()
    assert f"Hello {user}: of your jobs, " in mail
    assert "sbatch --time=" in mail
    assert not any(name in mail for name in others)
    with pytest.raises(cs.InvalidInstance, match="the log has no job of this user"):
        found.write(tmp_path / "none.html", "zoe")
    with pytest.raises(cs.InvalidInstance, match="jobs are not told apart by user"):
        cs.cluster.rightsize(found.instance, 0.05, by="name").mail(user)
    with pytest.raises(cs.InvalidInstance, match=r"none\.txt"):
        found.write(tmp_path / "none.txt")
    assert not (tmp_path / "none.html").exists()


def test_the_audit_page_links_to_it(found, tmp_path):
    cs.cluster.audit(found.instance.take(np.arange(9)), tmp_path / "a.html", time_limit=1,
                     rightsize=tmp_path / "sizes" / "all.html")  # fmt: skip
    page = (tmp_path / "a.html").read_text()
    assert "Jobs used " in page
    assert '<a href="sizes/all.html">' in page
    assert used_in_words(cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), 8)) == ""


def test_the_page_in_a_browser(page_of_all):
    with web.started() as browser:
        for mode, width in (("light", 1300), ("dark", 1300), ("light", 500)):
            media = {"features": [{"name": "prefers-color-scheme", "value": mode}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.set_window_size(width, 900)
            browser.get(page_of_all.as_uri())
            assert browser.title.startswith("Recommended requests")
            wide = "return document.documentElement.scrollWidth <= window.innerWidth"
            assert browser.execute_script(wide)
            assert len(browser.find_elements("css selector", "table")) >= 2
            web.assert_no_errors(browser)


def test_command_line_for_a_user(csv, tmp_path, capsys):
    command = ["rightsize", str(csv), "--nodes", "64", "--risk", "0.05"]
    assert main([*command, "-o", str(tmp_path / "all.html")]) == 0
    assert f"wrote {tmp_path / 'all.html'}" in capsys.readouterr().out
    assert main([*command, "--user", "user1"]) == 0
    assert capsys.readouterr().out.startswith("Hello user1: ")
    assert main([*command, "-o", str(tmp_path / "all.txt")]) == 2
    assert "all.txt" in capsys.readouterr().err


@pytest.mark.parametrize(("form", "lines"), [
    ("snakemake", ['  "größe a"', "    mem_mb: 15360", "    runtime: 2", "set-resources:"]),
    ("nextflow", ["  withName: 'größe a'", "    memory = '15360 MB'", "    time = '2 min'"]),
    ("sbatch", ["#SBATCH --time=0:01:30", "#SBATCH --mem=15G", "# größe a:#: user ada"]),
])  # fmt: skip
def test_exports_are_of_a_node_and_never_below_the_advice(form, lines):
    inst = log(nodes=[2] * 200, tasks=[2] * 200, memory_gb=[30.0] * 200, estimate=[90.0] * 200,
               used_memory_gb=[29.9] * 200, runtime=[80.0] * 200,
               job_name=["größe\na:1"] * 200)  # fmt: skip
    text = export(cs.cluster.rightsize(inst, 0.05).advice, form, 0.05)
    assert not [line for line in lines if line not in text], text
    small_recommendation = cs.cluster.rightsize(inst.take(np.arange(9)), 0.05).advice
    assert "no named step has enough past jobs" in export(small_recommendation, form, 0.05)
    if form == "snakemake":
        import yaml

        assert yaml.safe_load(export(small_recommendation, form, 0.05)) == {"set-resources": {}}


@pytest.fixture(scope="module")
def on_1_and_4_nodes():
    nodes = np.where(np.arange(400) % 5 < 3, 4, 1)
    return log(400, nodes=nodes, tasks=[16] * 400, used_memory_gb=[7.5] * 400)


@pytest.mark.parametrize(("form", "line"), [
    ("snakemake", "mem_mb: 8192"), ("nextflow", "memory = '8192 MB'"), ("sbatch", "--mem=8G"),
])  # fmt: skip
def test_a_line_is_enough_for_jobs_on_few_nodes(on_1_and_4_nodes, form, line):
    recommendation = cs.cluster.rightsize(on_1_and_4_nodes, 0.05)
    assert recommendation.advice["nodes"].tolist() == [4]
    assert line in export(recommendation.advice, form, 0.05)


def test_a_mail_is_enough_for_jobs_on_few_nodes(on_1_and_4_nodes):
    assert "--mem=8G" in cs.cluster.rightsize(on_1_and_4_nodes, 0.05).mail("ada", 5)


def test_a_step_with_a_group_that_has_no_advice_has_none():
    inst = log(tasks=np.where(np.arange(200) < 5, 2, 1), used_memory_gb=[5.5] * 200)
    for form in ("snakemake", "nextflow"):
        text = export(cs.cluster.rightsize(inst, 0.05).advice, form, 0.05)
        assert "--by name" in text
        assert "mem" not in text
        full_export = export(cs.cluster.rightsize(inst, 0.05, by="name").advice, form, 0.05)
        assert "6144" in full_export
    assert "--mem=6G" in export(cs.cluster.rightsize(inst, 0.05).advice, "sbatch", 0.05)


@pytest.mark.parametrize("form", FORMS)
def test_groups_without_names_and_without_advice(form):
    recommendation = cs.cluster.rightsize(log(tasks=[1] * 200), 0.05, by="user")
    none = recommendation.advice.assign(limit=np.nan, memory_gb=np.nan, node_memory_gb=np.nan)
    for advice in (none, none.head(0)):
        text = export(advice, form, 0.05)
        assert "a larger --risk needs fewer" in text
        assert "--by name" not in text
        assert "named step" not in text


def test_memory_of_the_largest_node_is_what_it_has():
    row = {"limit": np.nan, "memory_gb": 16000 / 1024, "node_memory_gb": 16000 / 1024}
    assert list(options_of(row)) == ["--mem=16000M"]


def test_users_of_a_log_that_numbers_them(tmp_path, capsys):
    path = tmp_path / "log.csv"
    log(400, user=np.arange(400) % 2).jobs.to_csv(path, index=False)
    command = ["rightsize", str(path), "--nodes", "8", "--risk", "0.05", "--user", "1"]
    assert main(command) == 0
    assert "Hello 1: of your jobs, 200 are in this log." in capsys.readouterr().out
    assert main([*command, "--export", "sbatch"]) == 0
    assert capsys.readouterr().out.count("SBATCH --time") == 1
    assert main([*command[:-1], "7", "--export", "sbatch"]) == 2
    assert "the log has no job of this user" in capsys.readouterr().err


def test_names_are_no_patterns_of_nextflow():
    text = export(
        cs.cluster.rightsize(log(job_name=["a+b|c"] * 200), 0.05).advice, "nextflow", 0.05
    )
    assert r"withName: 'a\\+b\\|c'" in text


def test_options_that_do_not_apply_to_codes_are_refused(tmp_path, capsys):
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\ncfd,1,820\n")
    for option, value in (("--user", "x"), ("--json", str(tmp_path / "a.json")), ("--by", "user")):
        assert main(["rightsize", str(runs), "--export", "codes", option, value]) == 2
        assert f"{option} does not apply" in capsys.readouterr().err
    assert main(["rightsize", str(runs), "--export", "codes", "--risk", "5e-324"]) == 2
    assert "--risk: " in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_warn_of_nothing():
    mail = cs.cluster.rightsize(log(3, estimate=[1e308] * 3), 0.3).mail("ada", 5)
    assert mail.startswith("Hello ada")
