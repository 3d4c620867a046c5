"""Every method, at weights and steps at which all of its parts matter to tiny networks."""

from rse_study.methods import DCL, L2PCSR, ConSERT, Method, RobustSentEmbed, VAdvCSE
from tests.methods.problem import settings

ENTRIES: dict[str, Method] = {
    "RobustSentEmbed": settings(masks={"phi": 0.3}),
    "SimCSE": settings(K=0, T=0, lambda1=0.0, lambda2=0.0),
    "L2P-CSR": L2PCSR(temperature=0.5),
    "L2P-CSR, released": L2PCSR(
        temperature=0.5,
        masks={"phi": 0.5, "num_steps": 4, "step_size": 0.1, "token_step": "sign", "features": "shared"},
    ),
    "L2P-CSR, embedding noise": L2PCSR(perturbs="embeddings", temperature=0.5),
    "V-advCSE": VAdvCSE(weight=0.3, temperature=0.5),
    "V-advCSE, similarities": VAdvCSE(weight=0.3, temperature=0.5, output="similarities"),
    "DCL": DCL(hidden=6, width=4),
    "DCL, batch norm": DCL(hidden=6, width=4, norm="batch", share=0.5, masked_lm=0.0),
    "ConSERT": ConSERT(temperature=0.5),
    "ConSERT, adversarial": ConSERT(temperature=0.5, first="token_cutoff", second="adversarial"),
}
"""One at least of every class in the registry (test_methods.py holds that)."""
CALLS = {
    "RobustSentEmbed": 4, "SimCSE": 1, "L2P-CSR": 6, "L2P-CSR, released": 5, "L2P-CSR, embedding noise": 6,
    "V-advCSE": 4, "V-advCSE, similarities": 4, "DCL": 1, "DCL, batch norm": 1, "ConSERT": 1, "ConSERT, adversarial": 3,
}  # fmt: skip
"""Calls of the trained encoder: the ascent's, a clean one where it is needed, and the views as rows of one pass."""

__all__ = ["CALLS", "ENTRIES", "RobustSentEmbed"]
