"""A rendered text and the name of its file."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RenderedFile:
    """A text file for an external program."""

    name: str
    """file name without a folder: job.sbatch, rayjob.yaml, cluster.yaml, cluster.sh"""
    text: str
