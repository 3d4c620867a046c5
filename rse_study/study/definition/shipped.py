"""What comes with the package: studies, trials and clusters, as files."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path


def shipped_studies() -> Iterator[Path]:
    """List the studies that come with the package, sorted by name.

    Searches come first, then the papers' tables at every scale.
    """
    yield from _files("search_spaces", "*.yaml", "mini/*.yaml", "minilm/*.yaml", "paper/*.yaml")


def shipped_trials() -> Iterator[Path]:
    """The trials that come with the package, by name."""
    yield from _files("search_spaces", "trials/*.yaml")


def shipped_clusters() -> Iterator[Path]:
    """The clusters that come with the package, by name."""
    yield from _files("clusters", "*.yaml")


def _files(package: str, *patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(Path(str(files(package))).glob(pattern))
