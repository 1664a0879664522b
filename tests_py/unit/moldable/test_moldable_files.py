"""moldable: files, command line, pictures."""

import json

import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

MOLDABLE = cs.moldable


def test_json(tmp_path):
    path = tmp_path / "jobs.json"
    jobs = [
        {"id": "a", "processingTimes": [4, 2.5, 2]},
        {"processingTimes": [3], "weight": 5, "release": 1.5},
    ]
    path.write_text(json.dumps({"machines": 4, "jobs": jobs}))
    inst = MOLDABLE.Instance.read(path)
    assert inst.times.tolist() == [[4, 2.5, 2], [3, 3, 3]]
    assert (inst.machines, inst.names) == (4, ("a", "job 1"))
    assert (inst.weights.tolist(), inst.release.tolist()) == ([1, 5], [0, 1.5])
    assert MOLDABLE.Instance.read(path, machines=2).machines == 2
    inst.write(path)
    assert MOLDABLE.Instance.read(path) == inst
    formulas = cs.workloads.moldable("cirne", 4, 1000, seed=1)
    formulas.write(path)
    assert MOLDABLE.Instance.read(path) == formulas
    path.write_text(json.dumps({"times": [[3, 2]], "weights": [4], "names": ["z"]}))
    assert MOLDABLE.Instance.read(path).weights.tolist() == [4]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "expected an object"),
        ({"jobs": []}, "at least one"),
        ({"jobs": [3]}, r"jobs\[0\]"),
        ({"jobs": [{"id": 1}]}, "processingTimes"),
        ({"jobs": [{"processingTimes": []}]}, r"jobs\[0\].processingTimes"),
        ({"jobs": [{"processingTimes": ["x"]}]}, r"jobs\[0\].processingTimes"),
        ({"jobs": [{"processingTimes": [1], "weight": "x"}]}, r"jobs\[0\].weight"),
        ({"jobs": [{"processingTimes": [1], "release": -1}]}, r"release\[0\]"),
        ({"machines": 0, "jobs": [{"processingTimes": [1]}]}, "machines = 0"),
        ({"jobs": [{"id": 1, "processingTimes": [1]}] * 2}, "twice"),
        ({"jobs": [{"downey": {"t1": 1, "A": 1, "sigma": 0}}]}, "machines is missing"),
        ({"machines": 2, "jobs": [{"downey": {"t1": 1}}]}, r"jobs\[0\].downey"),
        ({"times": [[1]], "names": 3}, "names"),
    ],
)
def test_bad_json(tmp_path, data, text):
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(data))
    with pytest.raises(cs.InvalidInstance, match=text) as caught:
        MOLDABLE.Instance.read(path)
    assert str(caught.value).startswith(str(path))


def test_csv(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("task,weight,release,1,2,4\na,2,0,8,4,2\nb,1,7.5,3,3,3\n")
    inst = MOLDABLE.Instance.read(path, machines=6)
    assert inst.times.tolist() == [[8, 4, pytest.approx(8 / 3), 2], [3, 3, 3, 3]]
    assert inst.weights.tolist() == [2, 1]
    assert inst.release.tolist() == [0, 7.5]
    assert counts(inst.notes, NoteKind.ASSUMED)["processors"] == 4
    longer = MOLDABLE.Instance.read(path, machines=6, extrapolate=True)
    assert longer.times.shape == (2, 6)
    inst = MOLDABLE.Instance([[8.0, 4.0], [3.0, 3.0]], [2, 1], [0, 7.5], names=["a", "b"])
    inst.write(path)
    assert path.read_text().startswith("task,weight,release,1,2\n")
    assert MOLDABLE.Instance.read(path) == inst
    path.write_text("task,1,2\na,8,4\n")
    assert MOLDABLE.Instance.read(path).weights.tolist() == [1]
    path.write_text("task,processors,seconds\na,1,8\na,2,4\n")
    assert MOLDABLE.Instance.read(path).times.tolist() == [[8, 4]]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("task,weight,1\na,-1,3\n", "line 2, column 'weight': '-1'"),
        ("task,weight,1\na,,3\n", "line 2, column 'weight': empty"),
        ("task,weight,release,1\na,1,x,3\n", "line 2, column 'release'"),
        ("task,weight,1\na,1,0\n", "line 2, column '1'"),
        ("task,weight\na,1\n", "line 1"),
        ("task,weight,1\na,1,2\na,1,2\n", "line 3: task 'a' is there twice"),
        ("weight,task,1\n1,a,2\n", "line 1"),
    ],
)
def test_bad_csv(tmp_path, text, where):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(cs.InvalidInstance, match=where):
        MOLDABLE.Instance.read(path)


def test_command_line(tmp_path, capsys):
    jobs, plan, table = (str(tmp_path / name) for name in ("jobs.json", "plan.json", "table.csv"))
    assert main(["generate", "moldable", "--option", "kind=mixed", "--option", "n=9",
                 "--option", "m=6", "--seed", "3", "-o", jobs]) == 0  # fmt: skip
    assert main(["solve", "moldable", jobs, "--algorithm", "demt-best", "-o", plan]) == 0
    assert main(["validate", "moldable", jobs, plan]) == 0
    assert main(["bound", "moldable", jobs, "--bound", "minsum", "--option", "refine=4"]) == 0
    capsys.readouterr()
    assert main(["compare", "moldable", jobs, "--machines", "3,6", "--algorithms", "demt",
                 "list-saf", "-o", table]) == 0  # fmt: skip
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert len(lines) == 5
    assert "weighted_completion" in lines[0]
    assert "minsum_gap" in lines[0]
    capsys.readouterr()
    assert main(["solve", "moldable", jobs, "--machines", "0", "--algorithm", "demt"]) == 2
    assert "--machines: 0" in capsys.readouterr().err


def test_pictures():
    inst = cs.workloads.moldable("mixed", 20, 10, seed=1)
    best = MOLDABLE.solve(inst, "demt-best", work=20_000)
    ax = cs.plot.pareto(best, others={"demt": MOLDABLE.solve(inst, "demt")})
    assert ax.get_xlabel() == "makespan (s)"
    assert len(ax.get_legend().get_texts()) == 4
    with pytest.raises(cs.InvalidInstance, match="Pareto"):
        cs.plot.pareto(MOLDABLE.solve(inst, "demt"))
    assert cs.plot.gantt(best.schedule) is not None


def test_counts_that_the_machine_lacks_are_dropped_before_others_are_filled(tmp_path):
    """A job without times on them was refused, with a word about an option that is not there."""
    path = tmp_path / "runs.csv"
    path.write_text("task,processors,seconds\na,1,8\na,2,5\na,4,2\nb,1,4\nb,2,3\n")
    inst = cs.moldable.Instance.read(path, machines=2)
    assert inst.times.tolist() == [[8, 5], [4, 3]]
    assert cs.moldable.Instance.read(path, machines=1).times.tolist() == [[8], [4]]
    with pytest.raises(cs.InvalidInstance, match=r"measured on 1,2 .* or fewer processors"):
        cs.moldable.Instance.read(path)
    path.write_text("task,3,4\na,3,2\n")
    with pytest.raises(cs.InvalidInstance, match=r"measured on 3,4 .* 1,2 of 1.* more processors$"):
        cs.moldable.Instance.read(path, machines=2)
