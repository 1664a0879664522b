"""A cluster now: its snapshot, and when its jobs will start."""

from cosched.cluster.live.past import backtest
from cosched.cluster.live.snapshot import Snapshot
from cosched.cluster.live.starts import when

__all__ = ["Snapshot", "backtest", "when"]
