"""An encoder as a command names it, ready to embed."""

from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.encoder_settings import stored_template
from rse_study.models.loading import load_encoder


def embedder_of(model: str, name: str, pooling: str) -> Embedder:
    """`model`: as it was written; `name`: its folder or hub name. Raises InputError where it lacks its template."""
    encoder, tokenizer = load_encoder(name, pooling)
    template = stored_template(name) if encoder.pooling == "prompt" else ""
    if encoder.pooling == "prompt" and not template:
        rule = "it reads the vector at a template's [MASK], and no template is stored beside these weights"
        remedy = "Use cls, mean or first_last, or a model trained here with prompt pooling"
        raise InputError("pooling 'prompt'", where=model, rule=rule, remedy=remedy)
    return Embedder(encoder, tokenizer, template)
