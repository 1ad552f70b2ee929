"""Registry of the dialects, and of all profiles."""

from collections.abc import Mapping
from functools import lru_cache

from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from pipeline.validation.dialect import Dialects
from pipeline.validation.profile import Profile
from pipeline.validation.registry import FOR_ALL

DIALECTS: Dialects = (APEXBRIDGE,)
"""All dialects; a new one is registered here."""

PROFILES: Mapping[str, Profile] = {
    profile.name: profile for profile in (*FOR_ALL, *(dialect.profile for dialect in DIALECTS))
}
"""All profiles by name: those for every skill, then those of the dialects."""


@lru_cache
def profiles_named(names: tuple[str, ...]) -> tuple[Profile, ...]:
    """Return the profiles of these names; raises KeyError for an unknown one."""
    return tuple(PROFILES[name] for name in names)
