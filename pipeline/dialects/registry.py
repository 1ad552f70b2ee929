"""Registry of the dialects, with all profiles and finding types of a verdict."""

from collections.abc import Mapping
from functools import lru_cache

from catalog.model.finding import FindingType
from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from pipeline.validation.dialect import Dialects
from pipeline.validation.profile import Profile
from pipeline.validation.registry import FOR_ALL, READING

DIALECTS: Dialects = (APEXBRIDGE,)
"""All dialects; a new one is registered here."""

PROFILES: Mapping[str, Profile] = {
    profile.name: profile for profile in (*FOR_ALL, *(dialect.profile for dialect in DIALECTS))
}
"""All profiles by name: those for every skill, then those of the dialects."""

FINDING_TYPES: tuple[FindingType, ...] = (
    *READING,
    *(kind for profile in PROFILES.values() for kind in profile.types),
)
"""Types of all findings that a verdict may contain."""


@lru_cache
def profiles_named(names: tuple[str, ...]) -> tuple[Profile, ...]:
    """Return the profiles of these names; raises KeyError for an unknown one."""
    return tuple(PROFILES[name] for name in names)
