"""A cell says what computed it, and whether that was one kind of machine."""

import json
import math
import platform
from pathlib import Path

import pytest
import torch

from rse_study.results.bit_equality import UNLIKE, what_decides, what_differs
from rse_study.results.files.result_file import Result, read_result
from rse_study.training.arithmetic import SETTINGS, provenance
from rse_study.training.loop import train
from rse_study.training.replay import replay
from tests.training.world import Complete, World, leave_at, small_trial

CPU = torch.device("cpu")


FOR_READERS = {"memory_gib", "system"}


def test_everything_a_provenance_says_decides_but_for_what_papers_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = provenance(CPU)
    assert what_differs(here, provenance(CPU)) == ()
    assert None not in what_decides(here).values()
    for name in here:
        other = dict.fromkeys(here[name], "other") if isinstance(here[name], dict) else "other"
        assert bool(what_differs(here, here | {name: other})) == (name not in FOR_READERS), name
    assert here["memory_gib"] > 0
    assert here["system"].split(", ")[-1].startswith(platform.system())
    monkeypatch.setenv(SETTINGS[0], "/some folder/lib.so:/another/blas.so")
    assert "lib.so:blas.so" in provenance(CPU)["settings"]
    assert len(what_differs(here, provenance(CPU))) == 1


def test_a_card_that_nobody_can_name_is_no_promise() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert "not on record here: device" in what_differs(provenance(torch.device("cuda")), provenance(CPU))


def test_a_cell_of_one_machine_says_what_it_ran_on(complete: Complete) -> None:
    recorded = read_result(complete.folder).provenance
    assert what_differs(provenance(CPU) | {"threads": recorded["threads"]}, recorded) == ()


def _resumed(world: World, folder: Path, **changes: object) -> Result:
    """A cell whose checkpoint another machine made; without changes, earlier code."""
    leave_at(5, train(small_trial(), 3, world.materials(), folder, checkpoint_seconds=0.0))
    file = next((folder / "checkpoint").glob("step-*/account.json"))
    file.with_name("checksums.json").unlink()  # as before decision 0069
    state = json.loads(file.read_text())
    now, earlier = state.pop("provenance"), {key: said for key, said in state.items() if key != UNLIKE}
    file.write_text(json.dumps(state | {"provenance": now | changes} if changes else earlier))
    list(train(small_trial(), 3, world.materials(), folder))
    return read_result(folder)


def test_a_cell_that_was_resumed_elsewhere_is_promised_nowhere(world: World, tmp_path: Path) -> None:
    recorded = _resumed(world, tmp_path / "cell", kernels="MMX")
    here = torch.backends.cpu.get_cpu_capability()
    assert recorded.provenance[UNLIKE] == [f"other CPU kernels: {here} here, MMX there"]
    found = replay(small_trial(), 3, world.materials(), recorded, tmp_path / "again", threads=1)
    (said,) = found.unlike
    assert said.startswith("more than one kind of machine there")


def test_a_checkpoint_of_earlier_code_does_not_say_where_it_was_made(world: World, tmp_path: Path) -> None:
    recorded = _resumed(world, tmp_path)
    (said,) = recorded.provenance[UNLIKE]
    assert said.startswith("not on record there: CPU kernels")
    assert recorded.status == "complete"
    assert math.isfinite(recorded.final["dev"])
