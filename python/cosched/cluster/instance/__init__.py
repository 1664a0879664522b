"""A stream of jobs, and the machine that it meets."""

from cosched.cluster.instance.instance import Instance
