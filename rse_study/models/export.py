"""Models on disk: exports, sentence-transformers' own, and classifiers."""

import copy
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from pydantic import PositiveInt, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModel, AutoTokenizer

from rse_study.activity import ProgressCallback
from rse_study.data.hub_models import hub_arguments
from rse_study.errors import InputError
from rse_study.models.embedder import LONG, SHORT, Embedder, check_alone, max_length
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import (
    CONVOLUTIONS,
    load_encoder,
    quiet_loading,
    seeded_init,
)
from rse_study.models.model_files import AGAIN, POOLINGS, Recorded, StoredPooling, reading, store_pooling
from rse_study.models.pooling import pool_mean
from rse_study.models.text_classifier import (
    SPAN,
    Classifier,
    SpanClassifier,
    SpanReader,
    TextClassifier,
)
from rse_study.spec import Spec


class WholeModel:
    """Sentence vectors of sentence-transformers' own `encode`: list[str] -> array.

    Distinct sentences are encoded once. `on_progress` gets (encoded, total). `prompt` stands before each, by default
    the model's own. Raises InputError if a file is damaged,
    a weight is missing, or a vector depends on the other sentences of its batch.
    """

    template = ""

    def __init__(
        self,
        path_or_name: str | Path,
        device: str = "cpu",
        batch_size: int = 64,
        on_progress: ProgressCallback = lambda done, total: None,
        prompt: str | None = None,
    ) -> None:
        name = str(path_or_name)
        recorded = Recorded(name)
        recorded.check_modules()
        self.pooling = recorded.pooling_text
        self._batch_size, self._on_progress, self._prompt = batch_size, on_progress, prompt
        with reading(name, "Does sentence-transformers load it? If not, save it again"), quiet_loading():
            self._model: Any = _load(name, device, seed=0)
            alone, beside = (self._model.encode(texts, prompt=prompt) for texts in ([SHORT], [SHORT, LONG]))
            again = _load(name, device, seed=1).encode([SHORT], prompt=prompt)
        self.similarity = str(self._model.similarity_fn_name)
        check_alone(name, torch.from_numpy(alone), torch.from_numpy(beside[:1]))
        if not np.array_equal(alone, again):
            rule = "two loads give two vectors: what is missing is drawn at random"
            raise InputError("some of its weights are missing", where=name, rule=rule, remedy=AGAIN)

    def __call__(self, sentences: list[str]) -> Float[np.ndarray, "n d"]:
        """Return one row per sentence."""
        distinct = sorted(set(sentences), key=lambda sentence: (len(sentence), sentence))
        vectors = np.zeros((len(distinct), self._model.get_embedding_dimension()), np.float32)
        for start in range(0, len(distinct), self._batch_size):
            batch = slice(start, start + self._batch_size)
            vectors[batch] = self._model.encode(distinct[batch], prompt=self._prompt, show_progress_bar=False)
            self._on_progress(min(batch.stop, len(distinct)), len(distinct))
        where = {sentence: i for i, sentence in enumerate(distinct)}
        return vectors[[where[sentence] for sentence in sentences]]


def _load(name: str, device: str, seed: int) -> Any:
    # It takes seconds to import, so import it on first use.
    from sentence_transformers import SentenceTransformer

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # it warns that a prompt applies
    with seeded_init(seed):
        return SentenceTransformer(
            name,
            device=device,
            **hub_arguments(name),
            trust_remote_code=False,
            model_kwargs={"dtype": torch.float32},
        )


TEXTS, TOLERANCE = [SHORT, "", "A dog.", LONG], 1e-5
"""compared after an export, and how far they may differ, as a share of the largest entry"""


def save_encoder(directory: Path, encoder: SentenceEncoder, tokenizer: Any, template: str = "") -> None:
    """Write weights (float32), tokenizer and pooling, also for sentence-transformers."""
    # Copied to the host: a card that trains has no room for the weights twice.
    weights: dict[int, Any] = {
        id(one): nn.Parameter(one.detach().cpu()) for one in encoder.backbone.parameters()
    }
    with quiet_loading():
        copy.deepcopy(encoder.backbone, weights).float().cpu().save_pretrained(directory)
    if encoder.convolutions:
        _save_weights(directory / CONVOLUTIONS, encoder.convolutions)
    tokenizer.padding_side = "right"  # as it was trained and scored, whatever the tokenizer came with
    tokenizer.save_pretrained(directory)
    store_pooling(directory, StoredPooling(pooling=encoder.pooling, template=template, prompt=encoder.prompt))


def _save_weights(path: Path, module: nn.Module) -> None:
    weights = module.state_dict().items()
    save_file({name: value.detach().float().cpu().contiguous() for name, value in weights}, path)


def export(directory: Path, encoder: SentenceEncoder, tokenizer: Any) -> None:
    """Save into a new folder; InputError if sentence-transformers would differ."""
    if encoder.pooling not in POOLINGS:
        rule = "sentence-transformers cannot express it: no average of two layers, no template, no ReLU of convolutions"
        remedy = "Export a model with cls or mean pooling; this one stays readable for `rse-study evaluate`."
        raise InputError(f"pooling {encoder.pooling!r}", where=str(directory), rule=rule, remedy=remedy)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError("there is something here already", where=str(directory), remedy="Name a new folder.")
    vectors = Embedder(encoder, tokenizer)(TEXTS)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".export-", dir=directory.parent) as scratch, quiet_loading():
        ours, draft = Path(scratch) / "ours", Path(scratch) / directory.name
        save_encoder(ours, encoder, tokenizer)
        _save_whole(draft, ours, encoder, max_length(encoder, tokenizer))
        _compare(draft, vectors, encoder.pooling, where=str(directory))
        draft.rename(directory)


def _save_whole(directory: Path, folder: Path, encoder: SentenceEncoder, length: int) -> None:
    """Save the model in a folder of ours as sentence-transformers does, with its card."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    with seeded_init(0):  # transformers' loaders expect a pooler's weights, which no vector of ours reads
        transformer = Transformer(str(folder), max_seq_length=length)
    modules = [transformer, Pooling(encoder.hidden_size, pooling_mode=encoder.pooling)]
    model = SentenceTransformer(modules=modules, device="cpu")
    if encoder.prompt:  # for each of `encode`, `encode_query` and `encode_document`
        model.prompts.update(dict.fromkeys(("query", "document"), encoder.prompt))
        model.default_prompt_name = "query"
    model.model_card_data.model_id = directory.name
    model.save_pretrained(str(directory))
    for path in directory.glob("*.safetensors"):
        path.chmod((directory / "config.json").stat().st_mode)  # safetensors lets nobody else read them


def _compare(directory: Path, vectors: Float[np.ndarray, "n d"], pooling: str, where: str) -> None:
    """Raise InputError unless an export gives the scored vectors in every library."""
    encoder, tokenizer = load_encoder(directory, pooling)
    found = {
        "this product": Embedder(encoder, tokenizer)(TEXTS),
        "sentence-transformers": WholeModel(directory)(TEXTS),
        "transformers": _by_transformers(directory, pooling, encoder.prompt),
    }
    for library, theirs in found.items():
        moved = float(np.abs(theirs - vectors).max() / np.abs(vectors).max())
        if not moved <= TOLERANCE:
            what = f"its vectors in {library} differ by {moved:.1%} from those that were scored"
            rule = "an export gives the same vectors everywhere, so that none is written"
            remedy = "`rse-study evaluate` reads the cell's own folder; please report this family of encoders"
            raise InputError(what, where=where, rule=rule, remedy=remedy)


def _by_transformers(directory: Path, pooling: str, prompt: str) -> Float[np.ndarray, "n d"]:
    """Embed as transformers' own documentation shows it, a batch padded by the tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    given = tokenizer([prompt + one for one in TEXTS], padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad(), quiet_loading():
        hidden = AutoModel.from_pretrained(directory, dtype=torch.float32).eval()(**given)[0]
    mask = given["attention_mask"].bool()
    return (hidden[:, 0] if pooling == "cls" else pool_mean(hidden, mask)).numpy()


RECORD, HEAD = "classifier.json", "head.safetensors"


class StoredClassifier(Spec):
    """The record beside the weights: the classes, and how texts are read."""

    classes: tuple[str, ...]
    """in the order of the outputs; empty for a regression"""
    max_length: PositiveInt
    dropout: float


def network_for(
    encoder: SentenceEncoder, classes: tuple[str, ...], dropout: float, generator: torch.Generator
) -> Classifier:
    """Put a head on the encoder: for spans, classes, or the value of a regression."""
    kind = SpanClassifier if classes == SPAN else Classifier
    return kind(encoder, len(classes) or 1, dropout, generator)


def reader_of(
    network: Classifier, tokenizer: Any, classes: tuple[str, ...], max_length: int
) -> TextClassifier:
    """Return what a network of `network_for` reads texts with."""
    kind = SpanReader if classes == SPAN else TextClassifier
    return kind(network, tokenizer, classes, max_length)


def save_classifier(directory: Path, classifier: TextClassifier) -> None:
    """Write weights (float32), tokenizer, pooling and classes; loaded, all bits agree."""
    network = classifier.network
    assert isinstance(network, Classifier)
    save_encoder(directory, network.encoder, classifier.tokenizer)
    _save_weights(directory / HEAD, network.head)
    stored = StoredClassifier(
        classes=classifier.classes, max_length=classifier.max_length, dropout=network.dropout.p
    )
    (directory / RECORD).write_text(stored.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_classifier(folder: Path) -> TextClassifier:
    """Load what `save_classifier` wrote, in float32; InputError if it is damaged."""
    encoder, tokenizer = load_encoder(folder)
    record = folder / RECORD
    try:
        stored = StoredClassifier.model_validate_json(record.read_text(encoding="utf-8"))
        network = network_for(encoder, stored.classes, stored.dropout, torch.Generator())
        network.head.load_state_dict(load_file(record.with_name(HEAD)))
    except (OSError, RuntimeError, SafetensorError, ValidationError) as error:
        first = str(error).split("\n")[0]
        raise InputError(f"damaged: {first}", where=str(record), remedy="Save or build it again") from None
    return reader_of(network.eval(), tokenizer, stored.classes, stored.max_length)
