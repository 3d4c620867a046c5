"""MTEB's tasks on made-up data: its own scores, and what is refused. Nothing is asked of the hub."""

import shutil
from pathlib import Path

import cloudpickle
import mteb
import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from rse_study.data import builtin
from rse_study.downstream import is_of_vectors
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation import read_evaluation
from rse_study.evaluation.evaluations import CachedEncoder
from rse_study.evaluation.mteb_tasks import MtebTask
from rse_study.models.embedder import Embedder
from rse_study.models.export import WholeModel, export
from rse_study.models.loading import load_encoder
from rse_study.results.records import POINTS
from tests.cases import cases
from tests.evaluation import mteb_data
from tests.evaluation.contract import all_one, by_letters, check_items, rows_of
from tests.evaluation.mteb_data import KINDS, MANY, OLD
from tests.tiny_models import save_bert, word_tokenizer, words_of

NAMES = {task: f"mteb/{task}" for task in (*KINDS.values(), OLD)} | {MANY: f"mteb/{MANY}/eng"}
STS = NAMES[KINDS["STS"]]


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A cache with the data of all these tasks."""
    cache = tmp_path_factory.mktemp("cache")
    for task in NAMES:
        mteb_data.in_cache(cache, task)
    return cache


@pytest.fixture
def cache(written, monkeypatch) -> Path:
    mteb_data.use_cache(written, monkeypatch)
    return written


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> tuple[Embedder, Path]:
    """An encoder as a cell scores it, and its export."""
    folder = tmp_path_factory.mktemp("models")
    save_bert(folder / "ours", word_tokenizer(words_of(builtin.corpus(num_sentences=500))))
    encoder, tokenizer = load_encoder(folder / "ours", "mean")
    export(folder / "exported", encoder, tokenizer)
    return Embedder(encoder, tokenizer), folder / "exported"


@pytest.mark.parametrize("task", NAMES)
def test_the_main_score_is_that_of_mteb_for_the_exported_model(cache, models, task):
    ours, exported = models
    reference = mteb.get_task(task, languages=["eng"], exclusive_language_filter=True, eval_splits=["test"])
    source = reference.metadata.dataset
    repository = cache / "hub" / f"datasets--{source['path'].replace('/', '--')}"
    local = {**source, "path": str(repository / "snapshots" / source["revision"])}
    reference.metadata = reference.metadata.model_copy(update={"dataset": local})
    model = SentenceTransformer(str(exported), device="cpu")
    found = mteb.evaluate(model, reference, cache=None, co2_tracker=False, show_progress_bar=False)
    evaluation = read_evaluation(NAMES[task], Path())
    for embed in (ours, WholeModel(exported)):
        row = rows_of(evaluation, embed)["main_score"]  # the second time with the generators of the first
        assert row.value == pytest.approx(100 * found.task_results[0].main_score, abs=1e-6)
        assert (row.metric, row.split, row.degenerate) == (f"{NAMES[task]}/main_score", "test", False)
        check_items([row], *([] if task in (KINDS["STS"], MANY) else ["main_score"]))
    assert 0 < row.value < 100
    (measure,) = evaluation.measures
    assert (measure.metric, measure.unit, measure.direction) == (row.metric, POINTS, "maximize")


@cases("task", NAMES)
def test_sentences_are_counted_as_they_are_encoded(cache, task):
    evaluation, asked = read_evaluation(NAMES[task], Path()), list[str]()
    evaluation.score(lambda texts: asked.extend(texts) or by_letters(texts), "me")
    most = (
        25 if task == KINDS["Clustering"] else 2
    )  # it draws 4%; pairs are encoded once more for their items
    assert evaluation.num_sentences / most <= len(asked) <= 2 * evaluation.num_sentences


@cases("task", [KINDS["STS"], KINDS["Classification"], KINDS["Clustering"], KINDS["Retrieval"]])
@pytest.mark.parametrize("embed", [all_one, lambda texts: np.full((len(texts), 4), np.nan)], ids=["1", "NaN"])
def test_a_collapsed_encoder_scores_0_and_is_degenerate(cache, task, embed):
    row = rows_of(read_evaluation(NAMES[task], Path()), embed)["main_score"]
    assert (row.value, row.degenerate, row.items) == (0.0, True, None)


def test_data_travel_with_the_evaluation(cache, tmp_path, monkeypatch):
    names = [NAMES[task] for task in (KINDS["STS"], KINDS["Clustering"], KINDS["Reranking"], MANY)]
    here = {name: read_evaluation(name, Path()) for name in names}
    packed = {name: cloudpickle.dumps(evaluation) for name, evaluation in here.items()}
    mteb_data.use_cache(tmp_path, monkeypatch)
    shutil.rmtree(cache / "datasets")
    for name, content in packed.items():
        travelled = cloudpickle.loads(content)
        assert travelled.fingerprint == here[name].fingerprint
        assert travelled.score(by_letters, "me") == here[name].score(by_letters, "me")


def test_results_are_written_as_mteb_reads_them(cache, models, tmp_path):
    evaluation = read_evaluation(STS, Path())
    (row,) = MtebTask(STS, evaluation.task, results=tmp_path / "out").score(models[0], "some/folder/model")
    (file,) = tmp_path.rglob("STSBenchmark.json")
    assert file.parts[-4:-2] == ("results", "local__model")
    result = mteb.TaskResult.from_disk(file)
    assert 100 * result.main_score == pytest.approx(row.value, abs=1e-4)  # six decimals are written
    assert result.dataset_revision == evaluation.task.metadata.revision
    assert {path.name for path in file.parent.iterdir()} == {
        "STSBenchmark.json",
        "model_meta.json",
        "run_settings.jsonl",
    }


class BySum:
    """Vectors whose lengths matter, by an encoder that is compared by dot products."""

    similarity = "dot"

    def __call__(self, texts):
        return by_letters(texts)


def test_a_model_is_compared_as_it_records(cache):
    evaluation = read_evaluation(NAMES[KINDS["Retrieval"]], Path())
    by_cosine, by_dot = (rows_of(evaluation, one)["main_score"].value for one in (by_letters, BySum()))
    assert by_cosine != by_dot
    one = BySum()
    one.similarity = "manhattan"
    with pytest.raises(InputError, match="its similarity is 'manhattan': MTEB compares by cosine or dot"):
        evaluation.score(CachedEncoder(one), "me")


@cases(
    ("name", "told"),
    [
        ("mteb/STSBenchmrk", r"has no such task\. Did you mean: 'STSBenchmark'\?"),
        ("mteb/", r"has no such task\. Python lists them: mteb\.get_tasks\(\)"),
        ("mteb/STS17", r"it has sets of other languages, too\. Write mteb/STS17/eng"),
        ("mteb/STS17/deu", r"English sets alone are scored\. Write mteb/STS17/eng"),
        ("mteb/STS17/eng/test", r"English sets alone are scored\. Write mteb/STS17/eng"),
        ("mteb/STSB", "it has no set of English alone"),
        (
            "mteb/BioVITAA2IReranking",
            r"of type Reranking, of audio and image\. Types that are scored, of text alone: STS, ",
        ),
        ("mteb/SummEval", "it is of type Summarization, of text. Types that are scored"),
        ("mteb/CQADupstackRetrieval", "it stands for several tasks. Name them: mteb/CQADupstackAndroid"),
    ],
)
def test_an_unfit_task_is_refused_by_name(name, told):
    assert is_of_vectors(name)
    with pytest.raises(InputError, match=told):
        MtebTask.find(name, name)


def test_data_that_are_not_here_are_named_with_the_command(tmp_path, monkeypatch):
    mteb_data.use_cache(tmp_path, monkeypatch)
    revision = mteb.get_task("STSBenchmark").metadata.revision
    told = f"Run: hf download mteb/stsbenchmark-sts --repo-type dataset --revision {revision}"
    with pytest.raises(MissingFile, match=told):
        read_evaluation(STS, Path())
    file = mteb_data.in_cache(tmp_path, "STSBenchmark") / "default" / "test.jsonl"
    for content in ("{", "", '{"one": "a", "two": "b", "score": 1}\n'):
        file.write_text(content)
        with pytest.raises(InputError, match=rf"cannot be loaded \(.*\).*{told}"):
            read_evaluation(STS, Path())


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setattr("rse_study.evaluation.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'rse-study\[mteb\]'"):
        read_evaluation(STS, Path())
