"""The reason that a cell has no result, in one line."""

from ray.train.v2.api.exceptions import TrainingFailedError, WorkerGroupError

OUT_OF_MEMORY = "could not create a primitive"  # oneDNN's words where it cannot allocate
LONGEST = 500


def reason_of(error: TrainingFailedError) -> str:
    """Return one line: the first failed worker's own words, or the controller's."""
    if isinstance(error, WorkerGroupError) and error.worker_failures:
        rank, failure = min(error.worker_failures.items())
        cause = getattr(failure, "cause", None) or failure
        return f"worker {rank}: {describe(cause)}"
    return describe(error)


def describe(error: BaseException) -> str:
    """Return kind and last line of an error, with a hint if memory ran out."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[-1][:LONGEST] if lines else ''}"
    return f"{text} (out of memory, most likely)" if OUT_OF_MEMORY in text else text
