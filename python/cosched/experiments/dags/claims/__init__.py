"""What Amaris et al. 2017 claim, row by row."""

from cosched.experiments.dags.claims import offline, online, pictures, theorems

CLAIMS = (*offline.CLAIMS, *online.CLAIMS, *pictures.CLAIMS, *theorems.CLAIMS)

__all__ = ["CLAIMS"]
