"""Every system of the papers, by the `name` in its configuration."""

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from rse_study.methods.consert import ConSERT
from rse_study.methods.dcl import DCL
from rse_study.methods.l2p_csr import L2PCSR
from rse_study.methods.method import Method
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.methods.v_adv_cse import VAdvCSE

DEFAULT = "robust_sent_embed"


def _name_of(given: Any) -> Any:
    """The name that tells the methods apart; files may leave the default's out."""
    return given.get("name", DEFAULT) if isinstance(given, dict) else getattr(given, "name", DEFAULT)


METHODS: dict[str, type[Method]] = {
    "robust_sent_embed": RobustSentEmbed,
    "l2p_csr": L2PCSR,
    "v_adv_cse": VAdvCSE,
    "consert": ConSERT,
    "dcl": DCL,
}
AnyMethod = Annotated[
    Annotated[RobustSentEmbed, Tag("robust_sent_embed")]
    | Annotated[L2PCSR, Tag("l2p_csr")]
    | Annotated[VAdvCSE, Tag("v_adv_cse")]
    | Annotated[ConSERT, Tag("consert")]
    | Annotated[DCL, Tag("dcl")],
    Discriminator(_name_of),
]

__all__ = ["DCL", "L2PCSR", "METHODS", "AnyMethod", "ConSERT", "Method", "RobustSentEmbed", "VAdvCSE"]
