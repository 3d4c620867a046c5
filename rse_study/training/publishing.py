"""A hook for files of a cell once they are written."""

from collections.abc import Callable

Publish = Callable[[str], None]
"""Called with the name of a file or folder of the cell that was written, replaced or removed."""


def keep_local(name: str) -> None:
    """Do nothing: readers read this folder itself."""
