"""Settings of the whole suite."""

import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import settings

from tests import needs

# A busy machine is no failure; a failure must be repeatable.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# Containers like to set it. Each of the hundreds of processes that tests start would compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Bit-equality depends on the number of threads; it must be set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Ray's workers are nice by 15: beside a busy neighbour, such as the other half of the suite, they would hardly run.
os.environ.setdefault("RAY_worker_niceness", "0")

# Whoever starts a cluster asks for a token by itself; who joins one must be told to, and which. Without one in the
# environment Ray writes it into HOME, and reads it there only once in a process.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

# jaxtyping's import hook keeps bytecode of its own, also of everything that a checked module is the first to import:
# on a fresh checkout transformers and half of torch would be compiled once more, in each of the processes.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in (
        "datasets",
        "optuna",
        "ray.train.torch",
        "ray.tune",
        "scipy.stats",
        "sklearn.isotonic",
        "torch",
    ):
        import_module(name)
    for name in ("bert", "electra", "roberta"):
        import_module(f"transformers.models.{name}.modeling_{name}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups of tests share clusters and fixtures: that pytest-xdist keeps them together shows in their names."""
    if getattr(session.config.option, "loadgroup", False):
        lone = [
            item
            for item in session.items
            if item.get_closest_marker("xdist_group") and "@" not in item.nodeid
        ]
        if lone:
            raise pytest.UsageError("this pytest-xdist does not keep groups of tests with this pytest")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """The last thing said: what was skipped and why, a line for each reason, the most frequent first."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section(f"{len(skipped)} skipped")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:5}  {reason}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data: RSE_STUDY_DATA, else ../shared/data seen from the project. Skips where absent."""
    folder = Path(os.environ.get("RSE_STUDY_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not (folder / "sts").is_dir():
        pytest.skip(needs.reason_without_data())
    return folder


@pytest.fixture
def no_hub(tmp_path, monkeypatch):
    """Nothing is asked of the hub, or remembered of it."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def learner(tmp_path_factory):
    """An encoder that learns groups of words in seconds: its folder, for reading only."""
    from tests.training.classifier.sorted_words import small_base  # imports torch

    folder = tmp_path_factory.mktemp("learner")
    small_base(folder)
    return str(folder)


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a cluster that studies of several modules join, each in folders of its own.

    It has one CPU: every process that runs cells beside another takes seconds to import what it needs.
    """
    from tests.on_ray.cluster import running_cluster  # imports Ray, which half of the suite does without

    with running_cluster() as address:
        yield address
