"""Which jobs are on which nodes, and the check of it."""

from cosched.cluster.schedule.schedule import Schedule
