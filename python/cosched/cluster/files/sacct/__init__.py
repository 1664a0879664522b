"""What ``sacct -P`` prints: rows, times, what jobs hold, and the jobs of an instance."""

from cosched.cluster.files.sacct.sacct_jobs import read_sacct
