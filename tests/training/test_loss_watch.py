"""A lost loss is known at once on a processor, and on a GPU where somebody must know: at a point, in a checkpoint."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rse_study.distributed import Group
from rse_study.errors import NonFiniteLoss
from rse_study.results.files.result_file import read_result
from rse_study.tensors import Collectives
from rse_study.training import session
from rse_study.training.arithmetic import LossWatch
from rse_study.training.loop import drive, train
from tests.gloo import in_group
from tests.training.world import small_trial

NAN, CPU = torch.tensor(float("nan")), torch.device("cpu")


class OfAGpu(LossWatch):
    """Nobody asks it in between."""

    def __init__(self, collectives: Collectives, device: torch.device) -> None:
        super().__init__(collectives, device)
        self.is_deferred = True


def test_a_processor_says_at_once_that_a_loss_is_lost() -> None:
    watch = LossWatch(Collectives(), CPU)
    watch.note(NAN, 4)
    with pytest.raises(NonFiniteLoss, match=r"step 4: the loss is not finite \(this worker's share is nan\)"):
        watch.look()


def test_the_first_lost_step_is_remembered() -> None:
    for lost in (float("nan"), float("inf"), float("-inf")):
        watch = OfAGpu(Collectives(), CPU)
        for t, share in enumerate([0.5, lost, 0.25, float("nan")], start=1):
            watch.require_finite() if t < 3 else None
            watch.note(torch.tensor(share, dtype=torch.float64, requires_grad=True), t)
            assert watch.is_lost == (t > 1)
        with pytest.raises(NonFiniteLoss, match=rf"step 2: .*share is {lost}\)"):
            watch.require_finite()


def watch_two(rank: int, size: int, folder: Path) -> None:
    """Only worker 1 loses its share."""
    watch = OfAGpu(Group(), CPU)
    watch.note(NAN if rank == 1 else torch.tensor(1.0), 3)
    watch.note(torch.tensor(1.0), 4)
    try:
        watch.require_finite()
    except NonFiniteLoss as error:
        (folder / str(rank)).write_text(str(error))


@pytest.mark.slow
@pytest.mark.xdist_group("two_workers")
def test_all_workers_know_the_step_at_which_one_lost_its_share(tmp_path: Path) -> None:
    in_group(watch_two, tmp_path)
    told = [(tmp_path / rank).read_text() for rank in ("0", "1")]
    assert told == [
        "step 3: the loss is not finite (on another worker)",
        "step 3: the loss is not finite (this worker's share is nan)",
    ]


def test_a_lost_loss_that_is_known_late_ends_the_same_way(world, tmp_path, monkeypatch):
    """The same reason and history; no checkpoint, model or point is of its weights."""
    lost = {"optimizer": {"lr": 1e30, "max_norm": 1e30}, "budget": {"unit": "steps", "amount": 20}}
    trial = small_trial(**lost, report_every=100, selection={"dev": "builtin", "every": 8})
    seen: dict[str, list[int]] = {"at once": [], "late": []}
    for name, points in seen.items():
        cell = train(trial, 3, world.materials(), tmp_path / name, checkpoint_seconds=0.0)
        with pytest.raises(NonFiniteLoss):
            drive(cell, lambda progress, points=points: points.append(progress.t))
        monkeypatch.setattr(session, "LossWatch", OfAGpu)
    expected, found = (read_result(tmp_path / name) for name in seen)
    assert (found.status, found.reason, found.history) == ("failed", expected.reason, expected.history)
    assert seen["late"] == seen["at once"] == [0]
    lost_at = int(found.reason.removeprefix("step ").split(":")[0])
    assert lost_at < 8  # so that the cell has gone on beyond it
    assert not (tmp_path / "late" / "model").exists()
    saved = sorted((tmp_path / "late" / "checkpoint").iterdir())
    assert [path.name for path in saved] == [f"step-{lost_at - 1:09d}"]
    assert all(bool(tensor.isfinite().all()) for tensor in load_file(saved[0] / "state.safetensors").values())
