"""What ``sacct -P`` prints: rows, times, what jobs hold, and the jobs of an instance."""

from cosched.cluster.files.sacct.jobs import read_sacct
