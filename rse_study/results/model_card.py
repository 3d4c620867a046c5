"""The card of an exported model: how to load it, its scores, its source."""

import json
from pathlib import Path

from rse_study.results.citation import citation
from rse_study.results.files.evaluation_file import read_evaluations
from rse_study.results.files.result_file import FILE_NAME, read_result
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader

CARD = """---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, feature-extraction, sentence-similarity, rse-study]
---

# {name}

A sentence encoder: {pooling} pooling over the last layer, vectors of {size} numbers.

```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("{folder}").encode(["A sentence."])
```

With transformers alone, pool `last_hidden_state`{how}. `pooler_output` is untrained.
"""
HOW = {"cls": " at its first token", "mean": " by its mean over the tokens that are no padding"}


def model_card(cell: Path, directory: Path, pooling: str, size: int) -> str:
    """Return the card (Markdown) of a cell's model that is exported to `directory`."""
    name = directory.name
    card = CARD.format(name=name, folder=directory, pooling=pooling, size=size, how=HOW[pooling])
    if not (cell / FILE_NAME).is_file():
        return card
    result = read_result(cell)
    scores = {f"{row.task}/{row.split}": row.value for row in read_evaluations(cell)}
    dev = [result.final[metric] for metric in ("dev/kept", "dev") if metric in result.final]
    scores = {**dict(zip(["dev"], dev, strict=False)), **scores}
    if scores:
        rows = "".join(f"| {measure} | {value:.2f} |\n" for measure, value in scores.items())
        card += (
            f"\n## Scores\n\nOf this one cell, seed {result.seed}.\n\n| measure | score |\n|---|--:|\n{rows}"
        )
    study = cell.parent.parent
    if ledger_path(study).is_file():
        with Reader(study) as reader:
            card += f"\n## Source\n\n{citation(reader)} Cell {result.identity[:16]}.\n"
    return card + f"\n## Configuration\n\n```json\n{json.dumps(result.config, indent=1)}\n```\n"
