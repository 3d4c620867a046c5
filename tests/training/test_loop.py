import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from rse_study.data.labelled import StsPairs, joined
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.results.files.result_file import read_result
from rse_study.training import trial as trial_module
from rse_study.training.loop import drive, train
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial
from tests.training.world import Complete, World, light_trial, stop_at

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
