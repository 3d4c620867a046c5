"""What happens to files of a cell once they are written."""

from collections.abc import Callable

Publish = Callable[[str], None]
"""Is called with the name of a file or folder of the cell that was written, replaced or removed."""


def keep_local(name: str) -> None:
    """Do nothing: whoever reads the file reads this folder."""
