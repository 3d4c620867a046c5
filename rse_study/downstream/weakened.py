"""The tokens that L2P-CSR's masks weaken in a kept encoder (its Figure 3)."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rse_study.data.batches import Batches
from rse_study.data.lexicons import english_stopwords
from rse_study.data.readers import read_sts
from rse_study.data.tokenised import MARKS, tokenise
from rse_study.downstream import WEAKENED, Settings
from rse_study.downstream.models import ModelFiles
from rse_study.evaluation.evaluations import Embed, PairsEvaluation, evaluation_rows
from rse_study.methods.l2p_csr import L2PCSR
from rse_study.methods.method import RunContext
from rse_study.models.loading import load_encoder
from rse_study.results.records import EvaluationRow, Measure
from rse_study.streams import Streams
from rse_study.tensors import Alone

NUM_TEXTS, BATCH, MAX_LENGTH, SEED = 256, 64, 32, 0
METHOD = L2PCSR(head="none")
"""The paper's masks; the head of training is not kept, so that the loss they raise is that of the pooled vectors."""
LABELS = (*(f"layer {layer}" for layer in range(METHOD.num_sites)), "keywords", "complementary")


@dataclass(frozen=True)
class WeakenedTokens(PairsEvaluation):
    """Shares x100 of tokens that masks learnt on dev sentences weaken.

    Special tokens are left out. "layer 0" is the embedding block's output, over both views. "keywords": of the tokens
    of no stop word, those weakened in any layer of either view. "complementary": of these, those weakened in one view
    alone.
    """

    stop_words: frozenset[str]

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "WeakenedTokens":
        return cls(read_sts(name.split("/")[0], "dev", data_dir), english_stopwords(data_dir))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{WEAKENED}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(Measure(name=f"weakened, {label}", metric=f"{self.name}/{label}") for label in LABELS)

    @property
    def num_sentences(self) -> int:
        """Every ascent step encodes both views, and costs about three passes."""
        return 3 * 2 * METHOD.masks.num_steps * NUM_TEXTS

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        asked = weights.base, weights.pooling_of_classifiers, weights.revision, weights.prompt
        encoder, tokenizer = load_encoder(*asked)
        run = RunContext(Streams(SEED), Alone(), nullcontext)
        networks = METHOD.networks(encoder.to(weights.device), run.streams, run.collectives)
        texts = [encoder.prompt + text for text in dict.fromkeys(self.pairs.first)][:NUM_TEXTS]
        kept, of_keys = list[np.ndarray](), list[np.ndarray]()
        with TemporaryDirectory() as folder:
            corpus = tokenise(texts, tokenizer, MAX_LENGTH, Path(folder) / "ids")
            batches = Batches(corpus, min(BATCH, len(texts)), run.streams)
            for batch in map(batches.batch, range(batches.num_batches)):
                masks = METHOD.token_masks(networks, batch.to(weights.device), run).cpu().numpy()
                names = [tokenizer.convert_ids_to_tokens(row) for row in batch.ids]
                is_key = batch.perturbable.numpy() & [
                    [self._is_keyword(name) for name in row] for row in names
                ]
                views = np.stack(np.split(masks, 2, axis=1))  # view, site, row, token
                kept.append(views[:, :, batch.perturbable.numpy()])
                of_keys.append((views == 0).any(axis=1)[:, is_key])
        keys = np.concatenate(of_keys, axis=1)
        alone = keys[:, keys.any(axis=0)].sum(axis=0) == 1
        shares = [
            *(np.concatenate(kept, axis=2) == 0).mean(axis=(0, 2)),
            keys.any(axis=0).mean(),
            alone.mean(),
        ]
        figures = {label: 100 * float(share) for label, share in zip(LABELS, shares, strict=True)}
        return evaluation_rows(self, subject, self.pairs.split, figures, len(texts), seed=SEED)

    def _is_keyword(self, token: str) -> bool:
        bare = token.lstrip("".join(MARKS)).lower()
        return any(map(str.isalnum, bare)) and bare not in self.stop_words
