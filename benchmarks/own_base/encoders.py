"""Bases of our own and the untrained encoders that they began as, by content."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.own_base.plan import BaseRun
from benchmarks.own_base.settings import base_spec
from rse_study.activity import ActivityCallback
from rse_study.assets.store import build, write_meta
from rse_study.assets.tiny import TinyEncoder, random_model, tiny_encoder
from rse_study.assets.word_pieces import train_tokenizer
from rse_study.errors import NonFiniteLoss
from rse_study.models.encoder_settings import StoredPooling, store_pooling
from rse_study.models.loading import quiet_loading
from rse_study.results.atomic import read_sealed, write_sealed
from rse_study.spec import fingerprint_of

CURVE_EVERY = 25
"""steps of which the curve has the mean loss"""
LossPoints = list[tuple[int, float]]


class OwnEncoders:
    """Makes encoders in a folder, or takes those that are there.

    Parameters
    ----------
    options
        Of the command line.
    sentences
        The first so many of the text.
    callback
        Shows the steps of masked LMs.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        sentences: Callable[[int], list[str]],
        callback: ActivityCallback,
    ) -> None:
        self._options, self._sentences, self._callback = options, sentences, callback
        self._assets = options.out.absolute() / "assets"

    def base(self, run: BaseRun) -> Path:
        """The folder of a base, which is trained where it is not there."""
        curve = LossCurve(self._curve(run), f"{run.name}: masked-LM steps", self._callback)
        sentences, spec = self._sentences(run.num_sentences), base_spec(self._options, run.seed)
        return tiny_encoder(self._assets, sentences, spec, curve.note)

    def untrained(self, run: BaseRun) -> Path:
        """The folder of an encoder with the weights and word pieces of a base's start."""
        sentences, spec = self._sentences(run.num_sentences), base_spec(self._options, run.seed)
        key = {"spec": spec.identity(), "sentences": fingerprint_of(sentences)}
        return build(self._assets, "untrained", key, lambda draft: save_untrained(draft, sentences, spec))

    def curve(self, run: BaseRun) -> LossPoints:
        """The loss curve of a base that was trained. Raises InputError where it is gone."""
        remedy = f"Remove {self.base(run)}: the same command trains it again"
        return read_sealed(self._curve(run), "losses", _points, missing=remedy, remedy=remedy)

    def forget_curve(self, run: BaseRun) -> None:
        """Remove the file of a curve, once its points are in a row."""
        self._curve(run).unlink(missing_ok=True)

    def _curve(self, run: BaseRun) -> Path:
        return Path(self._options.out) / "losses" / f"{run.name}.json"


class LossCurve:
    """Means of a loss over so many steps, written when the last one is taken.

    Parameters
    ----------
    path
        The file.
    activity
        Name under which the steps are shown.
    callback
        Shows them.
    """

    def __init__(self, path: Path, activity: str, callback: ActivityCallback) -> None:
        self._path, self._activity, self._callback = path, activity, callback
        self._points: LossPoints = []
        self._losses: list[float] = []

    def note(self, done: int, total: int, loss: float) -> None:
        """Add a step.

        Parameters
        ----------
        done, total
            How many steps there were, and of how many.
        loss
            Of this step.

        Raises
        ------
        NonFiniteLoss
            It is lost.
        """
        if not math.isfinite(loss):
            raise NonFiniteLoss(f"{self._activity}: the loss is {loss}; try a smaller --lr", done)
        self._losses.append(loss)
        if done % CURVE_EVERY == 0 or done == total:
            self._points.append((done, sum(self._losses) / len(self._losses)))
            self._losses.clear()
        if done == total:  # before the base is there: no base without its curve
            write_sealed(self._path, "losses", [list(point) for point in self._points])
        self._callback.advanced(self._activity, done, total, f"loss {loss:.2f}")


def save_untrained(draft: Path, sentences: list[str], spec: TinyEncoder) -> None:
    """Write the encoder from which `tiny_encoder` starts, as that writes its own.

    Parameters
    ----------
    draft
        The folder.
    sentences
        The corpus of its word pieces.
    spec
        Sizes and seed.
    """
    tokenizer = train_tokenizer(sentences, spec.vocabulary_size, spec.max_positions)
    with quiet_loading():
        random_model(spec, len(tokenizer)).save_pretrained(draft)
    tokenizer.save_pretrained(draft)
    store_pooling(draft, StoredPooling(pooling="mean"))
    write_meta(draft, {"asset": "untrained", "spec": spec.identity(), "vocabulary": len(tokenizer)})


def _points(content: Any) -> LossPoints:
    return [(int(step), float(loss)) for step, loss in content]
