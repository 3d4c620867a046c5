import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from rse_study.data.labelled import StsPairs, joined
from rse_study.distributed import Group
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.models.rtd import Generator
from rse_study.results.files.result_file import read_items, read_result
from rse_study.tensors import Collectives
from rse_study.training import session
from rse_study.training import trial as trial_module
from rse_study.training.arithmetic import LossWatch
from rse_study.training.loop import drive, train
from rse_study.training.materials import Materials
from rse_study.training.session_setup import open_session
from rse_study.training.trial import Trial
from tests.evaluation.contract import value_of
from tests.gloo import in_group
from tests.training.world import Complete, World, light_trial, small_trial, stop_at

METRICS = {"loss", "loss/contrastive", "loss/adversarial", "loss/rtd"}
METRICS |= {"rtd/accuracy", "delta/moved", "eta/starved"}


def run(world: World, name: str, seed: int = 3, **changes: object) -> list:
    return list(train(light_trial(**changes), seed, world.materials(), world.root / name))


def test_history_has_the_start_every_report_every_look_and_the_end(complete: Complete) -> None:
    points = complete.points
    times = [point.t for point in points]
    assert times == [0, 2, 4, 5, 6, 8, 10, 12]
    assert [point.t for point in points if "dev" in point.metrics] == [0, 5, 10, 12]
    assert [point.is_final for point in points] == [False] * 7 + [True]
    # The start has a dev score and nothing else; every later point, a look between two reports too, has all metrics.
    assert points[0].metrics.keys() == {"dev", "dev/degenerate"}
    assert [point.t for point in points[1:] if not point.metrics.keys() >= METRICS] == []
    assert all(math.isfinite(value) for point in points for value in point.metrics.values())


def test_a_long_history_by_default_is_thinner_and_goes_on_alike_after_a_break(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_module, "MOST_POINTS", 1)  # 12 steps are a long budget
    asked = light_trial().model_dump(mode="json") | {"report_every": None, "selection": {"dev": "builtin"}}
    trial = Trial.model_validate(asked)
    folder, arguments = world.root / "long", (trial, 3, world.materials())
    drive(train(*arguments, folder, checkpoint_seconds=0), stop_at(0))
    assert trial.report_every == 20
    times = [point.t for point in train(*arguments, folder, continues=True)]
    assert times == [12]
    written = Trial.model_validate(asked | {"report_every": 10})
    assert [p.t for p in train(written, 3, world.materials(), world.root / "written")] == [0, 10, 12]


def test_result_is_written_before_the_last_point_is_seen(world: World) -> None:
    directory = world.root / "told"
    for point in train(light_trial(), 3, world.materials(), directory):
        assert (directory / "result.json").exists() == point.is_final
    result = read_result(directory)
    assert result.history[-1].metrics.items() <= result.final.items()
    assert result.final["dev/kept"] == max(p.metrics["dev"] for p in result.history[1:] if "dev" in p.metrics)


def test_a_finished_cell_is_not_run_again_and_its_folder_is_its_own(world: World, light: Complete) -> None:
    before = (light.folder / "result.json").stat().st_mtime_ns
    again = run(world, light.folder.name)
    assert [point.t for point in again] == [12]
    assert again[0].metrics["dev"] == light.points[-1].metrics["dev"]
    assert (light.folder / "result.json").stat().st_mtime_ns == before
    with pytest.raises(InputError, match="another configuration's"):
        run(world, light.folder.name, seed=4)


@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_kept_model_is_the_best_or_the_last(world: World, keep: str) -> None:
    directory = world.root / keep
    trial = light_trial(selection={"dev": "builtin", "every": 5, "keep": keep})
    drive(train(trial, 3, world.materials(), directory), stop_at(10))  # at a look, the checkpoint beside it
    result = read_result(directory)
    looks = {point.t: point.metrics["dev"] for point in result.history[1:] if "dev" in point.metrics}
    expected = 10 if keep == "last" else max(looks, key=looks.__getitem__)
    assert result.final["dev/kept_t"] == expected
    kept = AutoModel.from_pretrained(directory / "model").state_dict()
    trained = load_file(directory / "checkpoint" / "step-000000010" / "networks.safetensors")
    name = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(kept[name], trained[f"encoder.backbone.{name}"]) == (expected == 10)


def test_of_several_dev_sets_the_mean_selects_and_each_is_in_the_history(world: World) -> None:
    whole = world.materials()
    even, odd = (part(whole.dev, name, start) for start, name in enumerate(("STS-B", "SICK-R")))
    materials = replace(whole, dev=joined([even, odd], "dev"))
    assert Materials.load(materials.save(world.root)).dev.fingerprint == materials.dev.fingerprint
    trial, directory = light_trial(selection={"dev": ["STS-B", "SICK-R"], "every": 3}), world.root / "two"
    drive(train(trial, 3, materials, directory), lambda point: None)
    result = read_result(directory)
    looks = [point.metrics for point in result.history if "dev" in point.metrics]
    assert len(looks) == 5
    for metrics in looks:
        assert metrics["dev"] == pytest.approx((metrics["dev/STS-B"] + metrics["dev/SICK-R"]) / 2)
    assert result.final["dev/kept"] == max(metrics["dev"] for metrics in looks[1:])
    alone = train(light_trial(), 3, replace(whole, dev=even), world.root / "one")
    assert next(alone).metrics["dev"] == looks[0]["dev/STS-B"]


def part(pairs: StsPairs, name: str, start: int) -> StsPairs:
    """Every second pair, as a set of its own."""
    return StsPairs(name, "dev", pairs.first[start::2], pairs.second[start::2], pairs.gold[start::2])


def test_a_complete_cell_keeps_no_checkpoint(world: World) -> None:
    directory = world.root / "ended"
    for _ in range(2):  # also where a crash left one behind the result
        list(train(light_trial(), 3, world.materials(), directory, checkpoint_seconds=0.0))
        assert sorted(path.name for path in directory.iterdir()) == ["items.json", "model", "result.json"]
        (directory / "checkpoint" / "step-000000011").mkdir(parents=True)


def test_a_lost_loss_ends_the_run_with_its_reason(world: World) -> None:
    with pytest.raises(NonFiniteLoss, match=r"step \d+: the loss is not finite .*nan"):
        run(world, "lost", optimizer={"lr": 1e30, "max_norm": 1e30})
    result = read_result(world.root / "lost")
    assert result.status == "failed"
    assert "not finite" in result.reason
    assert result.history[0].t == 0
    with pytest.raises(NonFiniteLoss, match="not finite"):  # and is not tried again: it would end so, too
        run(world, "lost", optimizer={"lr": 1e30, "max_norm": 1e30})


# A cell leaves the cosine of every dev pair, at its last step and at the checkpoint it keeps.


def test_dev_pairs_are_kept_at_the_last_step_and_at_the_kept_checkpoint(complete: Complete, world: World):
    result, dev = read_result(complete.folder), world.materials().dev
    found = {metric: items for (_, metric, _), items in read_items(complete.folder).items()}
    expected = {
        "builtin/dev/all": result.history[-1].metrics["dev"],
        "builtin/dev/all/kept": result.final["dev/kept"],
    }
    assert {metric: value_of(items) for metric, items in found.items()} == pytest.approx(expected, abs=1e-3)
    assert {key[::2] for key in read_items(complete.folder)} == {(result.identity, dev.fingerprint)}


# A cell in chunks of sentences: the numbers of whole batches, where no dropout is drawn.


def test_encoder_discriminator_and_generator_take_the_size(world: World, tmp_path: Path) -> None:
    trial = small_trial(chunk_size=3)
    session = open_session(trial, 3, world.materials(), tmp_path, Collectives(), torch.device("cpu"))
    assert session.networks.discriminator is not None
    assert isinstance(session.run.generator, Generator)
    encoders = session.networks.encoder, session.networks.discriminator.encoder
    assert [one.chunk_size for one in (*encoders, session.run.generator)] == [3, 3, 3]


# A lost loss is known at once on a processor, and on a GPU where somebody must know: at a point, in a checkpoint.


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
