"""Logs of PBS, Grid Engine, LSF and Flux, and Slurm's JSON: formats told by their content."""
