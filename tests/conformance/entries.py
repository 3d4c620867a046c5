"""The methods of the common tests: each brings its examples and its reference in tests/methods/test_NAME.py."""

import importlib.util
from types import ModuleType

from rse_study.methods import DCL, L2PCSR, METHODS, ConSERT, Method, RobustSentEmbed, VAdvCSE
from tests.methods.contract import Example
from tests.methods.problem import settings

NAMES = {name: f"tests.methods.test_{name}" for name in METHODS}
TESTS: dict[str, ModuleType] = {
    name: importlib.import_module(module)
    for name, module in NAMES.items()
    if importlib.util.find_spec(module)
}
ENTRIES: dict[str, Example] = {
    label: example for test in TESTS.values() for label, example in getattr(test, "EXAMPLES", {}).items()
}
"""For the contract of test_methods.py, in the order of the registry."""

GOLDEN: dict[str, Method] = {
    "default": RobustSentEmbed(),
    "stronger": settings(masks={"phi": 0.2}, norm="l2"),
    "SimCSE": settings(K=0, T=0, lambda1=0.0, lambda2=0.0),
    "l1, separate": settings(norm="l1", radius=0.012, projection="rescale", trajectories="separate"),
    "tokens' balls, joint state": settings(
        scope="token", strength="literal", weighs="fgsm", trajectories="joint_state", perturbed_tokens="all"
    ),
    "eta": settings(token_level={"scaling": "after", "write_back": "accumulate"}, z_adv_eta="with"),
    "no eta": settings(token_level={"presence": "none", "write_back": "none"}, head="none"),
    "masks below k": settings(masks={"phi": 0.3, "num_layers": 1, "sites": "below_k"}),
    "RTD": settings(
        rtd={"reduction": "sum", "choice": "sample", "positions": "everywhere", "h": "before_head"}
    ),
    "batch norm": settings(head="batch_norm", temperature=0.5, delta_gradient="without_eta"),
    "negatives": settings(z_adv_negatives="included", second_positive="outside"),
    "L2P-CSR": L2PCSR(),
    "L2P-CSR, released": L2PCSR(
        masks=dict(num_steps=4, step_size=0.1, token_step="sign", features="shared", sites="below_k")
    ),
    # Long steps of an ascent on a sharp loss, and an r that starts near 0, multiply every rounding.
    "L2P-CSR, continual": L2PCSR(
        masks={"values": "continual", "tokens": "none", "step_size": 0.1, "num_steps": 3},
        head="batch_norm",
        temperature=0.5,
    ),
    "V-advCSE": VAdvCSE(weight=0.1, temperature=0.5, r={"scale": 0.05, "step_size": 0.2}),
    "V-advCSE, raw KL": VAdvCSE(
        weight=0.1, temperature=0.5, divergence="kl", r={"gradient": "raw", "num_steps": 2, "scale": 0.1}
    ),
    "V-advCSE, similarities": VAdvCSE(
        weight=0.1,
        divergence="symmetric_kl",
        output="similarities",
        r={"ball": {"norm": "linf"}, "scale": 0.1},
        head="none",
    ),
    "ConSERT": ConSERT(),
    "ConSERT, adversarial": ConSERT(
        first="token_cutoff", second="adversarial", dropout=True, head="linear_tanh"
    ),
    "DCL": DCL(hidden=6, width=4),
    "DCL, no norm": DCL(hidden=6, width=4, norm="none", masked_lm=0.0, share=0.5, decay=0.9),
    "L2P-CSR, embedding noise": L2PCSR(
        perturbs="embeddings", noise={"num_steps": 5, "scale": 0.1}, temperature=0.5
    ),
    "paraphrases": settings(masks={"phi": 0.2}),
    "SimCSE, supervised": settings(K=0, T=0, lambda1=0.0, lambda2=0.0, hard_negatives="required"),
    "hard negatives": settings(head="batch_norm", temperature=0.5, z_adv_negatives="included"),
    "L2P-CSR, hard negatives": L2PCSR(masks={"features": "shared", "num_steps": 2}, temperature=0.5),
    "V-advCSE, paraphrases": VAdvCSE(weight=0.1, temperature=0.5, r={"scale": 0.05, "step_size": 0.2}),
    "ConSERT, hard negatives": ConSERT(first="adversarial", second="token_cutoff"),
}
"""Whose figures of 5 steps are on file (tests/methods/golden_losses.json)."""
NUM_VIEWS = {"paraphrases": 1, "V-advCSE, paraphrases": 1}
NUM_VIEWS |= dict.fromkeys((name for name in GOLDEN if name.endswith(("supervised", "hard negatives"))), 2)
"""Of those whose sentences have paraphrases (1) and hard negatives (2) from `views`."""
_with_figures = {type(method) for method in GOLDEN.values()}
GOLDEN |= {label: one.method for label, one in ENTRIES.items() if type(one.method) not in _with_figures}
