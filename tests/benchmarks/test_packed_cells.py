"""Cells in processes of their own: one that ends with an error ends the measurement."""

import os
from multiprocessing.context import SpawnContext

import pytest

from benchmarks.packed_cells import _taken


def test_a_cell_that_fails_is_not_waited_for():
    context = SpawnContext()
    fails = context.Process(target=os._exit, args=(1,))
    fails.start()
    with pytest.raises(RuntimeError, match="a cell ended with an error"):
        _taken(context.Queue(), [fails])
