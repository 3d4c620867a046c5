"""Mutants of checkpoints and of models in Hugging Face's layout."""

import json
import shutil
import struct
from pathlib import Path
from random import Random
from unittest.mock import patch

from rse_study.spec import hash_file
from tests.hostile.execution import Ended, Mutant, run
from tests.hostile.mutations import as_json, mangled, mutate
from tests.hostile.specs import nothing

TRIAL = """
encoder: {name: ENCODER, pooling: mean}
corpus: {source: builtin, limit: 64}
budget: {unit: steps, amount: 2}
batch_size: 16
max_length: 8
selection: {dev: builtin, every: 1}
method: {lambda2: 0}
"""


def _encoder(folder: Path) -> Path:
    from rse_study.data import builtin
    from tests.tiny_models import save_bert, word_tokenizer, words_of

    encoder = folder / "encoder"
    if not encoder.exists():
        save_bert(encoder, word_tokenizer(words_of(builtin.corpus(0, 200)), pairs=False))
    return encoder


def _interrupted(folder: Path) -> tuple[Path, Path]:
    """Return a trial, and its folder as a kill after the first step would leave it."""
    trial, cell = folder / "trial.yaml", folder / "cell"
    if not cell.exists():
        trial.write_text(TRIAL.replace("ENCODER", str(_encoder(folder))), encoding="utf-8")
        ended = Ended()
        with patch(
            "rse_study.cli.verbs.train.StepReport.report", lambda _, point: "stop" if point.t else None
        ):
            run(["train", str(trial), "--out", str(cell)], ended)
        assert not ended.code, ended.said
        (cell / "result.json").unlink()
    return trial, cell


def _change_part(random: Random, path: Path) -> None:
    """Change a JSON file, the header of a file of tensors, or bytes of any file."""
    content = path.read_bytes()
    if path.suffix == ".json" and random.random() < 0.7:
        changed = mutate(random, {"": json.loads(content)}).get("")
        path.write_text(as_json(changed), encoding="utf-8")
    elif path.suffix == ".safetensors" and random.random() < 0.6:
        (length,) = struct.unpack("<Q", content[:8])
        header = as_json(mutate(random, json.loads(content[8 : 8 + length]))).encode()
        length = random.choice([len(header)] * 4 + [0, 2**63, 2**40, len(content)])
        path.write_bytes(struct.pack("<Q", length) + header + content[8 + len(header) :])
    elif random.random() < 0.1:
        path.unlink()
    else:
        path.write_bytes(mangled(random, content))


def checkpoint(random: Random, folder: Path) -> Mutant:
    """A changed checkpoint from which a run goes on; most have checksums that agree."""
    trial, interrupted = _interrupted(folder.parent)
    cell = Path(shutil.copytree(interrupted, folder / "cell"))
    (newest,) = cell.glob("*/step-*")
    for _ in range(random.choice([1, 1, 2])):
        path = random.choice(sorted(newest.iterdir()))
        try:
            _change_part(random, path)
        except (ValueError, OSError):
            continue  # damaged by the change before
    sums = newest / "checksums.json"
    if random.random() < 0.7 and sums.is_file():
        sums.write_text(
            json.dumps({path.name: hash_file(path) for path in sorted(newest.iterdir()) if path != sums})
        )
    return [["train", str(trial), "--out", str(cell)]], nothing


def _data(folder: Path) -> Path:
    """Return a folder with the few pairs for which an encoder is opened."""
    pairs = folder / "data" / "sts" / "STSBenchmark" / "orig" / "sts-dev.csv"
    if not pairs.exists():
        pairs.parent.mkdir(parents=True)
        pairs.write_text("".join(f"g\tf\ty\t0\t{n}\ta man {n}\ta woman\n" for n in range(4)))
    return folder / "data"


def _with_modules(folder: Path) -> None:
    """Make it a folder of sentence-transformers."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    config = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32, "do_lower_case": false}')


def _replace(random: Random, path: Path) -> None:
    """Put something else in a file's place: a device, a pointer, nothing, a number beyond all sizes."""
    kind = random.choice(["device", "pointer", "empty", "folder", "number"])
    if (
        kind == "number"
        and path.suffix == ".json"
        and isinstance(content := json.loads(path.read_text()), dict)
    ):
        key = random.choice(sorted(content) or ["num_hidden_layers"])
        path.write_text(json.dumps({**content, key: random.choice([10**9, -1, 10**18, 1e308])}))
        return
    path.unlink()
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n" if kind == "pointer" else ""
        )


def model(random: Random, folder: Path) -> Mutant:
    """A changed encoder that is opened and scored."""
    made = Path(shutil.copytree(_encoder(folder.parent), folder / "model"))
    if random.random() < 0.4:
        _with_modules(made)
    for _ in range(random.choice([1, 1, 2])):
        path = random.choice(sorted(one for one in made.rglob("*") if one.is_file()))
        try:
            random.choice([_change_part, _change_part, _replace])(random, path)
        except (ValueError, OSError, AttributeError, TypeError, RecursionError, struct.error):
            continue  # damaged by the change before
    pooling = random.choice(["mean", "stored", "cls", "prompt", "pooler", "first_last"])
    data = str(_data(folder.parent))
    return [["evaluate", str(made), "--pooling", pooling, "--data", data]], nothing
