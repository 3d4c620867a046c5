"""Content-addressed assets: tokenised corpora, the tiny encoder, generators; `prepare` puts a trial's together."""

from rse_study.assets.prepare import prepare

__all__ = ["prepare"]
