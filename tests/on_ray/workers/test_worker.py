"""A process that runs one cell after the other does not grow."""

import subprocess
import sys

import pytest

# Each thread leaves a small block between large ones that it frees: glibc keeps the large ones for it.
CELLS = """
import threading, psutil
from rse_study.on_ray.workers.worker import give_back_free_memory

kept = []

def cell():
    blocks = [bytearray(100_000) for _ in range(600)]
    kept.append([bytes(5_000) for _ in range(4)])
    blocks += [bytearray(100_000) for _ in range(600)]

for _ in range(4):
    thread = threading.Thread(target=cell)
    thread.start()
    thread.join()
held = psutil.Process().memory_info().rss
give_back_free_memory()
print(held - psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone keeps it")
def test_what_the_threads_of_cells_have_freed_goes_back():
    done = subprocess.run([sys.executable, "-c", CELLS], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 30e6
