"""What Aupy, Shantharam, Benoit, Robert, Raghavan 2013 claim, row by row."""

from cosched.experiments.packs.claims import sentences, variants

CLAIMS = (*sentences.CLAIMS, *variants.CLAIMS)

__all__ = ["CLAIMS"]
