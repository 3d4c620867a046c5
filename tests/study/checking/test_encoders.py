"""`validate` refuses the encoders that `run` would, when they are on this machine."""

import json

import pytest
import transformers as hf

from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import check_content
from tests.cases import cases
from tests.tiny_models import save_bert, word_tokenizer

SHAPE = {"vocab_size": 7, "max_position_embeddings": 64, "hidden_size": 16, "num_hidden_layers": 2}
SHAPE |= {"num_attention_heads": 2, "intermediate_size": 24, "pad_token_id": 0}
GPT2 = {"vocab_size": 7, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
T5 = {"vocab_size": 7, "d_model": 16, "num_layers": 2, "num_heads": 2, "d_ff": 24, "d_kv": 8}
DISTILBERT = {"vocab_size": 7, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24}
KINDS = {
    "gpt2": lambda: hf.GPT2Model(hf.GPT2Config(**GPT2)),
    "t5": lambda: hf.T5Model(hf.T5Config(**T5)),
    "albert": lambda: hf.AlbertModel(hf.AlbertConfig(**SHAPE, embedding_size=16)),
    "distilbert": lambda: hf.DistilBertModel(hf.DistilBertConfig(**DISTILBERT)),
    "bare": lambda: hf.BertModel(hf.BertConfig(**SHAPE), add_pooling_layer=False),
}


def problems(folder, rows=({},), pooling="mean", *, graphed=False, **method):
    """What `validate` says of a grid of these rows, from an encoder in `folder`/encoder."""
    base = {
        "encoder": {"name": "encoder", "pooling": pooling},
        "method": {"lambda2": 0, **method},
        "graphed": graphed,
        "max_length": 16,
        "batch_size": 8,
        "budget": {"unit": "steps", "amount": 2},
        "selection": {"dev": "builtin", "every": 1},
    }
    grid = {"rows": {f"row {i}": row for i, row in enumerate(rows)}, "baseline": "row 0"}
    content = {"name": "s", "question": "Is it refused?", "base": base, "grid": grid, "seeds": [0]}
    checked = check_content(content, where=str(folder / "s.yaml"))
    return " ".join(map(str, check_data(checked, folder)))


def encoder(folder, kind="bert", **settings):
    tokenizer = word_tokenizer(["red", "cat"])
    if kind == "bert":
        return save_bert(folder / "encoder", tokenizer, **settings)
    KINDS[kind]().save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")
    return folder / "encoder"


def with_module(folder):
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense")]
    listed = [
        {"idx": i, "name": str(i), "path": path, "type": kind} for i, (kind, path) in enumerate(modules)
    ]
    (encoder(folder) / "modules.json").write_text(json.dumps(listed))


NOT_RECORDED = (
    "a step of distilbert cannot be recorded: transformers looks for padding in each pass. Set graphed: false, "
    "or use a BERT, RoBERTa or ELECTRA checkpoint"
)
REFUSED = [
    ("gpt2 is decoder-only", "gpt2", {}),
    ("t5 is an encoder-decoder", "t5", {}),
    ("AlbertModel has no known sites", "albert", {"masks": {"phi": 0.3}}),
    ("9 sites are weakened", "bert", {"masks": {"phi": 0.3, "num_layers": 8}}),
    ("has no pooler", "bert", {"pooling": "pooler"}),
    (NOT_RECORDED, "distilbert", {"graphed": True}),
    ("a step of albert cannot be recorded", "albert", {"graphed": True}),
    ("saved without a masked-LM head", "bare", {"rows": ({"lambda2": 0.1}, {})}),
]


@cases(("said", "kind", "asked"), REFUSED)
def test_what_run_would_refuse_is_no_valid_study(tmp_path, said, kind, asked):
    encoder(tmp_path, kind)
    assert said in problems(tmp_path, **asked)


def test_a_folder_that_run_could_not_read_is_no_valid_study(tmp_path):
    with_module(tmp_path)
    assert "its module 2_Dense" in problems(tmp_path)
    (encoder(tmp_path, max_position_embeddings=8) / "modules.json").unlink()
    assert "reads at most 8 tokens" in problems(tmp_path)
    (encoder(tmp_path) / "tokenizer.json").unlink()
    assert "no tokenizer is here" in problems(tmp_path)


@pytest.mark.parametrize("kind", ["bert", "albert", "bare", "distilbert"])
def test_what_run_accepts_is_valid(tmp_path, kind):
    encoder(tmp_path, kind)
    assert problems(tmp_path) == ""


def test_a_bert_can_be_recorded(tmp_path):
    encoder(tmp_path)
    assert problems(tmp_path, graphed=True) == ""
