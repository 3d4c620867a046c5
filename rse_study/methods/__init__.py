"""Every system of the papers, by the `name` in its configuration."""

from rse_study.methods.method import Method
from rse_study.methods.robust_sent_embed import RobustSentEmbed

# A union told apart by `name` as soon as there are two.
AnyMethod = RobustSentEmbed

__all__ = ["AnyMethod", "Method", "RobustSentEmbed"]
