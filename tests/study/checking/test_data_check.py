import json
import subprocess
import sys
from pathlib import Path

import pytest
import transformers as hf

from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import check_content, read_study
from tests import needs
from tests.cases import cases
from tests.study.no_search import NO_SEARCH
from tests.tiny_models import save_bert, word_tokenizer

SHIPPED = Path(__file__).parents[3] / "search_spaces"


def said(overrides, data_dir, study="joint"):
    checked = read_study(SHIPPED / f"{study}.yaml", overrides)
    return [str(problem) for problem in check_data(checked, data_dir)]


def test_everything_missing_is_said_at_once_where_the_study_names_it(tmp_path):
    found = said([], tmp_path, "mini_joint")
    assert [line.split(": ", 2)[1] for line in found] == [
        "base.corpus.source = 'wiki/wiki1m_head/wiki1m_for_simcse.head.txt'",
        "base.corpus.source = 'wiki/wikitext2/sentences.txt'",
        "evaluations.0 = 'STS-B/test'",
        "evaluations.1 = 'SICK-R/test'",
        "base.selection.dev = 'STS-B'",
    ]
    assert all(line.startswith(f"{SHIPPED / 'mini_joint.yaml'}: ") for line in found)
    assert found[0].endswith(f"and {tmp_path}. Fetch it: rse-study data fetch wiki1m-head")
    assert found[1].endswith("then run: rse-study data verify wikitext2")
    assert "RSE_STUDY_DATA" in found[2] and "data fetch --for" in found[2]


def test_a_near_name_is_said_and_the_joint_needs_no_file(tmp_path):
    (tmp_path / "sentences.txt").write_text("\n".join(map(str, range(32))))
    (found,) = said(["base.corpus.source=sentence.txt"], tmp_path)
    assert "base.corpus.source = 'sentence.txt': no such file" in found
    assert "Did you mean 'sentences.txt'?" in found
    assert said(["base.corpus.source=sentences.txt"], tmp_path) == []
    assert said([], tmp_path) == []


SENTENCES = "\n".join(f"sentence {i}" for i in range(40))


@cases(
    ("content", "overrides", "what"),
    [
        (
            "one\ntwo\n",
            [],
            "base.corpus: batch_size = 32 (corpus of 2 distinct sentences): 2 sentences are",
        ),
        (
            SENTENCES + "\nlone\rCR",
            [],
            "base.corpus: a carriage return in the line (FOLDER/own.txt:41): LF or",
        ),
        (SENTENCES, ["base.batch_size=64"], "base.corpus: batch_size = 64 (corpus of 40 distinct sentences)"),
        (SENTENCES, ["base.corpus.limit=8"], "base.corpus: batch_size = 32 (corpus of 8 distinct sentences)"),
        (
            SENTENCES,
            ["base.corpus.source={dataset: table, column: no}"],
            "base.corpus: no column 'no' (dataset",
        ),
        (
            SENTENCES,
            ["base.corpus.source={num_sentences: 9}"],
            "batch_size = 32 (corpus of 9 distinct sentences)",
        ),
        (
            SENTENCES,
            ["base.corpus.source=table/train.csv"],
            "base.corpus.source = 'table/train.csv': .csv is no",
        ),
        (SENTENCES, [], ""),
        (SENTENCES, ["base.corpus.source={dataset: table, column: text}"], ""),
    ],
)
def test_what_is_in_a_corpus_is_looked_at_before_it_is_run(tmp_path, no_hub, content, overrides, what):
    (tmp_path / "own.txt").write_text(content, encoding="utf-8", newline="")
    (tmp_path / "table").mkdir()
    (tmp_path / "table/train.csv").write_text(SENTENCES.replace("sentence 0", "text"), encoding="utf-8")
    problems = said(["base.corpus.source=own.txt", *overrides], tmp_path)
    assert [what in one.replace(str(tmp_path), "FOLDER") for one in problems] == [True] * bool(what)


@cases(
    ("override", "what"),
    [
        ("base.encoder.name=./nowhere", "base.encoder.name = './nowhere': no such folder"),
        ("base.method.rtd.generator=/no/where", "base.method.rtd.generator = '/no/where': no such folder"),
        ("base.corpus.source={dataset: ./none}", "base.corpus.source.dataset = './none': no such folder"),
    ],
)
def test_a_path_that_is_no_folder_is_said(tmp_path, override, what):
    (found,) = said([override], tmp_path)
    assert what in found


def test_an_axis_and_a_row_are_looked_at_too(tmp_path):
    (found,) = said(["search.corpus.source={choice: [builtin, more.txt]}"], tmp_path)
    assert "search.corpus.source: corpus.source = 'more.txt': no such file" in found
    row = [
        *NO_SEARCH,
        "grid={rows: {paper: {}, more: {source: more.txt}, again: {source: more.txt, rho: 0}}}",
    ]
    (found,) = said(row, tmp_path)
    assert "grid.rows.more: corpus.source = 'more.txt': no such file" in found


def test_wordnet_is_asked_for_only_where_pairs_are_replayed(tmp_path, data_dir):
    (found,) = said(["base.replayed.recipe=pwws"], tmp_path)
    assert "base.replayed.recipe = 'pwws': no WordNet" in found
    assert "RSE_STUDY_DATA" in found
    assert said(["base.replayed.num_pairs=5"], tmp_path) == []  # nothing is replayed
    assert said(["base.replayed.recipe=pwws"], data_dir) == []
    (found,) = said(["base.replayed={recipe: pwws, reference: ./nobody}"], data_dir)
    assert "base.replayed.reference = './nobody': no such folder" in found
    assert said(["base.replayed={recipe: pwws, reference: org/model}"], data_dir) == []


@pytest.mark.parametrize(
    ("recipe", "absent", "said_of_it"),
    [
        ("pwws", "stopwords.zip", "no stop words"),
        ("textfooler", "ppdb_synonyms.txt", "no such file"),
        ("textbugger", "keyboard_en.json", "no such file"),
    ],
)
def test_a_recipe_is_asked_for_all_it_uses_and_for_nothing_else(
    data_dir, tmp_path, recipe, absent, said_of_it
):
    if recipe != "pwws":
        needs.minilm()
    names = {path.name.removesuffix(".gz"): path for path in (data_dir / "lexicon").rglob("*.*")}
    for name, path in names.items():
        if name != absent and not (name == "wordnet.zip" and recipe != "pwws"):
            place = tmp_path / path.relative_to(data_dir)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)
    (found,) = said([f"base.replayed.recipe={recipe}"], tmp_path)
    assert f"base.replayed.recipe = {recipe!r}: {said_of_it}" in found
    assert absent in found
    assert said([f"base.replayed.recipe={recipe}"], data_dir) == []


def test_texts_to_be_attacked_are_looked_for_and_counted(data_dir, tmp_path):
    texts = "base.replayed={recipe: pwws, labelled: %s, num_texts: %d}"
    (found,) = [line for line in said([texts % ("MR", 10)], tmp_path) if "labelled" in line]
    assert "base.replayed.labelled = 'MR': no such file" in found and "RSE_STUDY_DATA" in found
    assert said([texts % ("builtin", 300)], data_dir) == []
    (found,) = said([texts % ("builtin", 400)], data_dir)
    words = "base.replayed.labelled = 'builtin': too few texts (builtin-opinions train): 400 to attack"
    assert words in found


def test_what_never_runs_or_is_on_the_hub_is_not_looked_for(tmp_path):
    assert said(["base.encoder.name=org/model"], tmp_path) == []
    off = [
        *NO_SEARCH,
        "base.method.lambda2=0",
        "grid={axes: {rho: [0, 1]}}",
        "base.method.rtd.generator=/no/where",
    ]
    assert said(off, tmp_path) == []


def test_looking_loads_no_models():
    loaded = "any(name.endswith('modeling_bert') for name in sys.modules)"
    code = f"import sys, rse_study.study.checking.data_check; assert not {loaded}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=SHIPPED.parent)


# `validate` refuses the encoders that `run` would, when they are on this machine.


SHAPE = {"vocab_size": 7, "max_position_embeddings": 64, "hidden_size": 16, "num_hidden_layers": 2}
SHAPE |= {"num_attention_heads": 2, "intermediate_size": 24, "pad_token_id": 0}
GPT2 = {"vocab_size": 7, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
T5 = {"vocab_size": 7, "d_model": 16, "num_layers": 2, "num_heads": 2, "d_ff": 24, "d_kv": 8}
XLM = {"vocab_size": 7, "emb_dim": 16, "n_layers": 2, "n_heads": 2, "pad_token_id": 0}
DISTILBERT = {"vocab_size": 7, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24}
KINDS = {
    "gpt2": lambda: hf.GPT2Model(hf.GPT2Config(**GPT2)),
    "t5": lambda: hf.T5Model(hf.T5Config(**T5)),
    "albert": lambda: hf.AlbertModel(hf.AlbertConfig(**SHAPE, embedding_size=16)),
    "distilbert": lambda: hf.DistilBertModel(hf.DistilBertConfig(**DISTILBERT)),
    "electra": lambda: hf.ElectraModel(hf.ElectraConfig(**SHAPE, embedding_size=8)),
    "mpnet": lambda: hf.MPNetModel(hf.MPNetConfig(**SHAPE)),
    "xlm": lambda: hf.XLMModel(hf.XLMConfig(**XLM)),
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
    ("XLMModel has no known sites", "xlm", {"masks": {"phi": 0.3}}),
    ("SG-OPT and the discriminator read", "xlm", {"rows": ({"method": {"name": "sg_opt"}},)}),
    ("pads with token 0, its config.json and positions with ", "mpnet", {}),
    ("has 3: the embedding block and 2 layers", "albert", {"masks": {"phi": 0.3, "num_layers": 3}}),
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


@pytest.mark.parametrize("kind", ["bert", "albert", "bare", "distilbert", "electra"])
def test_what_run_accepts_is_valid(tmp_path, kind):
    encoder(tmp_path, kind)
    assert problems(tmp_path, masks={"phi": 0.3}) == ""


def test_a_bert_can_be_recorded(tmp_path):
    encoder(tmp_path)
    assert problems(tmp_path, graphed=True) == ""
