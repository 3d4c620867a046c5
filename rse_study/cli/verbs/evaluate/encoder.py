"""The encoder that a command scores: requested, loaded, ready to embed."""

from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from rse_study.activity import ProgressCallback
from rse_study.cli.arguments.device import require_device
from rse_study.cli.terminal.screen import stderr, stdout
from rse_study.data.location import data_dir
from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.encoder_settings import Recorded
from rse_study.models.export import WholeModel
from rse_study.models.loading import load_encoder


@dataclass(frozen=True)
class EncoderRequest:
    """An encoder to score, with the options given on the command line."""

    model: str
    pooling: str
    """cls, mean, first_last, prompt, pooler; `stored`: as the model says"""
    data: Path | None
    threads: int
    """CPU threads; 0: torch's default"""
    device: str
    as_json: bool

    def __post_init__(self) -> None:
        require_device(self.device)

    @property
    def data_dir(self) -> Path:
        return self.data or data_dir()

    @property
    def screen(self) -> Console:
        """The console of progress: stdout is left to JSON."""
        return stderr() if self.as_json else stdout()

    def set_threads(self) -> None:
        if self.threads:
            torch.set_num_threads(self.threads)


def embedder_of(
    request: EncoderRequest, name: str, on_progress: ProgressCallback = lambda done, total: None
) -> Embedder | WholeModel:
    """Load an encoder, by folder or hub name, with all that its authors recorded."""
    recorded = Recorded(name)
    if request.pooling == "stored" and recorded.is_whole:
        return WholeModel(name, request.device, on_progress=on_progress)
    encoder, tokenizer = load_encoder(name, request.pooling)
    template = recorded.ours.template if encoder.pooling == "prompt" and recorded.ours else ""
    if encoder.pooling == "prompt" and not template:
        rule = "it reads the vector at a template's [MASK], and no template is stored beside these weights"
        remedy = "Use cls, mean or first_last, or a model trained here with prompt pooling"
        raise InputError("pooling 'prompt'", where=request.model, rule=rule, remedy=remedy)
    return Embedder(encoder.to(request.device), tokenizer, template, on_progress=on_progress)
