"""The model a cell leaves behind: a Hugging Face folder that knows its pooling."""

import os
import shutil
from pathlib import Path
from typing import Any

from rse_study.models.encoder import SentenceEncoder
from rse_study.models.export import save_encoder
from rse_study.training.trial import Encoder


def save_model(directory: Path, encoder: SentenceEncoder, tokenizer: Any, spec: Encoder) -> None:
    """Put the encoder in `directory`, in float32, in place of the one that is there."""
    for abandoned in directory.parent.glob(f".{directory.name}.*"):  # by a process killed while it wrote
        shutil.rmtree(abandoned)
    draft = directory.with_name(f".{directory.name}.{os.getpid()}")
    save_encoder(draft, encoder, tokenizer, spec.template)
    shutil.rmtree(directory, ignore_errors=True)
    draft.rename(directory)
