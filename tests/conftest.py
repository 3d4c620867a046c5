"""Settings of the whole suite."""

import os

from hypothesis import settings

# A busy machine is no failure; a failure must be repeatable.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# Bit-equality depends on the number of threads; it must be set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
