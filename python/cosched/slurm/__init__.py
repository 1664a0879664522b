r"""A production Slurm: predict start times, replay and tune its configuration.

>>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
>>> _ = conf.write_text("NodeName=n[1-2] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n")
>>> jobs = {"submit": [0, 0, 0], "tasks": [2, 1, 1], "cpu": [1, 1, 1], "memory": [0.5, 0.5, 0.5],
...         "runtime": [60.0, 60.0, 30.0]}
>>> inst = cs.cluster.Instance(jobs, nodes=2)
>>> cs.slurm.backfill(inst, machine=conf, controller_start=-100, epoch=0).jobs.start.tolist()
[0.0, 61.0, 61.0]

* :func:`when`, :func:`backtest`, :class:`Snapshot`: a cluster now, and when its jobs will start
* :func:`backfill`: a simulation of Slurm's scheduler, second by second
* :func:`tune`, :class:`Tuned`: a search over lines of a slurm.conf

``cosched.cluster.Machine.read`` reads a slurm.conf, ``cosched.cluster.solve(inst,
"slurm-backfill")`` runs the simulator, and the what-if scenarios of an audit take keys of a
slurm.conf: the entry points of cosched offer these to the layers below.

The parts: ``accounts`` (associations, shares and QOS as Slurm's commands print them), ``conf``
(slurm.conf, or what ``scontrol show`` prints, becomes settings), ``requests`` (what jobs ask for,
and whose they are), ``trace`` (what a simulated cycle or pass did with each job, and why), ``twin``
(the simulator), ``recordings`` (real runs, and how far the simulator is from them), ``whatif`` (the
same jobs under another slurm.conf), ``live`` (snapshots and predictions), ``tuning`` (the search).
"""

from cosched.border import guard_public
from cosched.lazy import of_stub, on_first_use

# What the stub beside this file imports is loaded on first use: a prediction needs no search.
_PLACES = of_stub(__file__)
__getattr__ = on_first_use(__name__, _PLACES, guard_public)
__all__ = sorted(_PLACES)


def __dir__():
    return sorted({*globals(), *__all__})
