"""The command in this process: arguments in, exit code and both streams out."""

from dataclasses import dataclass

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast

from rse_study.cli.app import app
from rse_study.data import builtin

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NUM_POSITIONS = 48


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory):
    """Two-layer BERTs: `encoder` (a masked LM), `headless` (without its head), `other` (with other words)."""
    root = tmp_path_factory.mktemp("models")
    words = sorted({word for sentence in builtin.corpus(0, 200) for word in sentence.lower().split()})
    save_bert(root / "encoder", words, BertForMaskedLM)
    save_bert(root / "headless", words, BertModel)
    save_bert(root / "other", words[::-1], BertForMaskedLM)
    return root


def save_bert(folder, words, kind):
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *words])}
    rules = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    rules.normalizer, rules.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.WhitespaceSplit()
    marks = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    rules.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    names = {
        f"{name}_token": token
        for name, token in zip(("pad", "unk", "cls", "sep", "mask"), SPECIALS, strict=True)
    }
    PreTrainedTokenizerFast(tokenizer_object=rules, **names).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = BertConfig(vocab_size=len(vocabulary), max_position_embeddings=NUM_POSITIONS, **sizes)
        kind(config).save_pretrained(folder)


@dataclass
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def rse(capsys, monkeypatch, tmp_path):
    """Run `rse-study ...` in an empty folder with an empty cache and no data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RSE_STUDY_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            app(list(arguments), prog_name="rse-study")
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return call
