"""Content-addressed assets of trials; `prepare` collects those of one trial."""

from rse_study.assets.prepare import prepare

__all__ = ["prepare"]
