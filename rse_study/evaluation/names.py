"""The names of all evaluations, as studies and the command line write them: task/split, or task/preset.

By themselves, so that a study can be checked without what it takes to evaluate.
"""

from rse_study.data.readers import SUBSETS
from rse_study.data.transfer_sets import transfer_tasks

BUILTIN = "builtin/test"
SIMILARITY = tuple(f"{task}/test" for task in (*SUBSETS, "STS-B", "SICK-R"))
TRANSFER_PRESETS = ("fast", "full")  # of evaluation/probe.py
GEOMETRY, INVARIANCE = "STS-B/geometry", "STS-B/invariance"
OF_DEV = (GEOMETRY,)  # on dev pairs: what they say, a search may know while it runs


def known_evaluations() -> tuple[str, ...]:
    """Every evaluation a study may ask for. Of similarity only test splits: a dev split has selected the model."""
    transfer = [name for preset in TRANSFER_PRESETS for name in transfer_names(preset)]
    return (BUILTIN, *SIMILARITY, *transfer, GEOMETRY, INVARIANCE)


def transfer_names(preset: str) -> tuple[str, ...]:
    """The seven transfer tasks under a preset."""
    return tuple(f"{task}/{preset}" for task in transfer_tasks())


def beyond_similarity(suite: str) -> tuple[str, ...]:
    """The evaluations of a suite besides the STS sets.

    sts: none; fast: transfer with its fast preset, and geometry; full: its full preset, geometry and invariance.
    """
    if suite == "sts":
        return ()
    return (*transfer_names(suite), GEOMETRY, *([INVARIANCE] if suite == "full" else []))
