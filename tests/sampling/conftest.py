"""The little study of tests/on_ray, whose axes are sampled here."""

from tests.on_ray.conftest import checked, materials, study_content

__all__ = ["checked", "materials", "study_content"]
