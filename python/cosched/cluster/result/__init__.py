"""What a policy made of a stream of jobs."""

from cosched.cluster.result.result import NO_ESTIMATES, PERFECT, REQUESTED, Result
