"""The encoder that `evaluate` is given, ready to embed."""

from rse_study.activity import ProgressCallback
from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.encoder_settings import stored_template
from rse_study.models.loading import load_encoder


def embedder_of(
    model: str, name: str, pooling: str, on_progress: ProgressCallback = lambda done, total: None
) -> Embedder:
    """Load an encoder with its tokenizer and, where it has one, its template.

    Parameters
    ----------
    model
        As the user wrote it; named in messages.
    name
        Its folder or hub name.
    pooling
        cls, mean, first_last, prompt; `stored` as the model says.
    on_progress
        Is called with the sentences encoded in one call, and of how many.

    Raises
    ------
    InputError
        Where the pooling is prompt and no template is stored.
    """
    encoder, tokenizer = load_encoder(name, pooling)
    template = stored_template(name) if encoder.pooling == "prompt" else ""
    if encoder.pooling == "prompt" and not template:
        rule = "it reads the vector at a template's [MASK], and no template is stored beside these weights"
        remedy = "Use cls, mean or first_last, or a model trained here with prompt pooling"
        raise InputError("pooling 'prompt'", where=model, rule=rule, remedy=remedy)
    return Embedder(encoder, tokenizer, template, on_progress=on_progress)
