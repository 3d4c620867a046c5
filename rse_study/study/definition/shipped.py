"""Studies, trials and clusters that ship with the package."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path


def shipped_studies() -> Iterator[Path]:
    """List the shipped studies: searches by name, then papers' tables by scale."""
    yield from _files("search_spaces", "*.yaml", "mini/*.yaml", "minilm/*.yaml", "paper/*.yaml")


def shipped_trials() -> Iterator[Path]:
    """List the shipped trials by name."""
    yield from _files("search_spaces", "trials/*.yaml")


def shipped_clusters() -> Iterator[Path]:
    """List the shipped clusters by name, without templates, which have two ends."""
    yield from (path for path in _files("clusters", "*.yaml") if "." not in path.stem)


def _files(package: str, *patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(Path(str(files(package))).glob(pattern))
