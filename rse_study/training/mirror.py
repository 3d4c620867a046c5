"""What happens to a cell's files after they are written: they stay, or go elsewhere too."""

from collections.abc import Callable

Mirror = Callable[[str], None]
"""Is called with the name of a file or folder of the cell that was written, replaced or removed."""


def leave_here(name: str) -> None:
    """Do nothing: whoever reads the file reads this folder."""
