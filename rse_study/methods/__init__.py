"""Every system of the papers, by name."""

from rse_study.methods.method import Method
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.registry import Registry

METHODS: Registry[type[Method]] = Registry("method", {"robust_sent_embed": RobustSentEmbed})
