"""What each tracker's own tools read back."""

import json
import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rse_study.trackers.copier import StudyCopier
from rse_study.trackers.mlflow import MlflowTracker
from rse_study.trackers.study_content import read_study
from rse_study.trackers.tensorboard import TensorboardTracker
from rse_study.trackers.wandb import WandbTracker
from tests.trackers.wandb_file import records_of


@dataclass
class Copy:
    """Of one cell: every number as often as it is there."""

    numbers: Counter = field(default_factory=Counter)
    """(metric, step, value as text); scores, too, where a tracker keeps them so."""
    times: dict = field(default_factory=dict)
    """Seconds since 1970, by (metric, step)."""
    state: str = ""


class MlflowBackend:
    tracker = MlflowTracker

    @staticmethod
    def read(place):
        from mlflow import MlflowClient

        client, copies = MlflowClient(tracking_uri=place), {}
        experiments = client.search_experiments(filter_string="name != 'Default'")
        for run in client.search_runs([one.experiment_id for one in experiments]):
            identity = run.data.tags.get("rse_study.cell")
            if identity:
                assert identity not in copies, "two runs of one cell"
                copy = copies[identity] = Copy(state=run.info.status)
                for name in run.data.metrics:
                    for one in client.get_metric_history(run.info.run_id, name):
                        copy.numbers[name, one.step, repr(one.value)] += 1
                        copy.times[name, one.step] = one.timestamp / 1000
        return copies

    @staticmethod
    def stored(value):
        return math.copysign(1.7976931348623157e308, value) if math.isinf(value) else value


class TensorboardBackend:
    tracker = TensorboardTracker

    @staticmethod
    def read(place):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        copies = {}
        for path in Path(place).glob("*/*/*/events.out.tfevents.*"):
            loaded = EventAccumulator(str(path.parent), size_guidance={"scalars": 0, "tensors": 0}).Reload()
            identity = path.name.rpartition(".")[2]
            assert identity not in copies, "two files of one cell"
            copy = copies[identity] = Copy()
            for name in loaded.Tags()["scalars"]:
                for one in loaded.Scalars(name):
                    copy.numbers[name, one.step, repr(one.value)] += 1
                    copy.times[name, one.step] = one.wall_time
            texts = loaded.Tensors("cell") if "cell" in loaded.Tags()["tensors"] else ()
            for one in texts:  # the last one holds; none where somebody is writing the file
                text = one.tensor_proto.string_val[0].decode()
                copy.state = text.partition("| state | ")[2].partition(" |")[0]
        return copies

    @staticmethod
    def stored(value):
        import numpy as np

        return float(np.float32(value))


class WandbBackend:
    tracker = WandbTracker

    @staticmethod
    def read(place):
        copies = {}
        for path in Path(place).glob("wandb/offline-run-*/*.wandb"):
            records = records_of(path)
            (run,) = [record.run for record in records if record.WhichOneof("record_type") == "run"]
            identity = run.run_id.rpartition("-")[2]
            assert identity not in copies, "two folders of one cell"
            copies[identity] = _wandb_copy(records)
        return copies

    @staticmethod
    def stored(value):
        return value


def _wandb_copy(records):
    copy, last = Copy(), 0
    for record in records:
        if record.WhichOneof("record_type") == "history":
            items = {"/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            last = items.pop("_step")
            at, _ = items.pop("_timestamp"), items.pop("_runtime")
            for name, value in items.items():
                copy.numbers[name, last, repr(float(value))] += 1
                copy.times[name, last] = at
    scores = {}
    logged = {name for name, _, _ in copy.numbers}
    for record in records:
        for update in record.summary.update:
            name = update.key or "/".join(update.nested_key)
            if name not in logged and not name.startswith("_"):
                scores[name] = json.loads(update.value_json)
    copy.state = scores.pop("state", "")
    scores.pop("reason", None)
    for name, value in scores.items():
        copy.numbers[name, last, repr(float(value))] += 1
    return copy


BACKENDS = {"mlflow": MlflowBackend, "tensorboard": TensorboardBackend, "wandb": WandbBackend}


def copy_once(backend, folder, place):
    """Copy a study, with a tracker that is opened and closed for it."""
    with closing(backend.tracker(str(place))) as tracker:
        return StudyCopier(tracker).copy(read_study(folder))
