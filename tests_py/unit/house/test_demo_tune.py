"""The log of notebooks/tune is what its script makes, and ``tune`` finds the planted weight."""

import cosched as cs
from support import REPO, load_script

TUNE = REPO / "notebooks" / "tune"


def test_the_log_of_the_tuning_example_is_what_its_script_makes():
    script = load_script(TUNE / "make_log.py")
    assert (TUNE / "sacct.txt").read_text() == script.make_log()


def test_tune_finds_the_planted_weight_and_proves_it_on_weeks_that_it_did_not_see():
    machine = cs.cluster.Machine.read(TUNE / "slurm.conf")
    log = cs.cluster.from_sacct(TUNE / "sacct.txt", machine)
    tuned = cs.slurm.tune(
        log, vary={"PriorityWeightPartition": [0, 200, 5000]},
        objective="mean_bounded_slowdown", draws=2,
    )  # fmt: skip
    assert tuned.better
    assert float(tuned.best["PriorityWeightPartition"]) > 0
    assert tuned.gain >= 0.2
    assert tuned.gain_p05 > 0
    assert "PriorityWeightPartition=200" in tuned.lines()
