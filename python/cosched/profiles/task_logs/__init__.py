"""Logs of workflows and task lists: Nextflow, Snakemake, GNU parallel and hyperfine."""
