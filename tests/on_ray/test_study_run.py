"""What a run does about baselines that cannot be scored. No cell runs here, and no Ray."""

from contextlib import ExitStack

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.study_run import StudyRun
from rse_study.results.files.ledger import Ledger
from tests.on_ray.listener import Listener
from tests.on_ray.world import few


@pytest.mark.parametrize("failure", [InputError("no pairs"), OSError("no space left"), AssertionError()])
def test_a_baseline_that_fails_is_raised_when_running_cells_have_ended(
    checked, materials, tmp_path, monkeypatch, failure
):
    files, cache = StudyFiles(tmp_path), MaterialsCache(lambda trial: materials)
    listener, ended = Listener(), []

    def baselines():
        raise failure
        yield

    with Ledger.open(tmp_path) as ledger, ExitStack() as stack:
        run = StudyRun(checked, files, ledger, cache, few, listener)
        runtime = RayRuntime(stack, files, cache, listener, num_cpus=0, address="")

        def run_cells(given):
            while not runtime.closing.is_set():
                runtime.meanwhile()  # as Tune does between two steps
            ended.append("cell")
            return []

        monkeypatch.setattr(run, "baselines", baselines)
        monkeypatch.setattr(run, "_run_cells", run_cells)
        with pytest.raises(type(failure)) as raised:
            run.all_stages(runtime)
    assert raised.value is failure
    assert ended == ["cell"]
    (said,) = listener.heard
    assert said.endswith("(running cells finish first, and no others start)")
