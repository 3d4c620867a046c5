"""A text that was made for a cluster, and the name of the file it belongs in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RenderedFile:
    """A file for somebody else's program, as text."""

    name: str
    """of the file, without a folder: job.sbatch, rayjob.yaml, cluster.yaml, cluster.sh"""
    text: str
