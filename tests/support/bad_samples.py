"""The bad samples, one folder per finding, and the settings with which they are judged."""

from collections.abc import Mapping

from catalog.model.values import Acceptance, SecretRule
from pipeline.roots.local.folder import Limits
from tests.support.paths import REPOSITORY

BAD = REPOSITORY / "tests/samples/bad"

LIMITS: Mapping[str, Limits] = {
    "skill-md-too-large": Limits(skill_md_bytes=100),
    "too-many-files": Limits(files=2),
    "folder-too-large": Limits(bytes=400),
    "folder-too-deep": Limits(depth=2),
}
"""Limits for the samples of these codes; files above the default limits are too large for git."""

ACCEPTANCES: Mapping[str, Acceptance] = {
    "description-derived": "permissive",
    "description-underivable": "permissive",
}

SECRETS: Mapping[str, SecretRule] = {
    "secret-refused": "reject",
    "secret-published": "report",
}
"""Rules for files with secrets in the roots of these samples."""
