"""Content-addressed assets of trials; `prepare` puts a trial's together."""

from rse_study.assets.prepare import prepare

__all__ = ["prepare"]
