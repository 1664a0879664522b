"""slurm.conf, or what ``scontrol show`` prints, becomes settings."""
