"""Definition of the ApexBridge dialect."""

from pathlib import Path

from pipeline.dialects.apexbridge import field_rules, file_rules
from pipeline.dialects.apexbridge.codes import OWNER, TYPES
from pipeline.dialects.apexbridge.conversion_plan import METADATA, plan
from pipeline.dialects.apexbridge.fields import (
    FIELDS,
    ApexBridgeFields,
    is_package,
    package_of,
    searched_words,
    with_json_values,
)
from pipeline.validation.profile import Dialect, Profile
from pipeline.validation.profiles.spec.codes import NAME_FORM

_SKELETON = Path(__file__).with_name("skeleton")

APEXBRIDGE = Dialect(
    owner=OWNER,
    profile=Profile("apexbridge", TYPES, field_rules.RULES + file_rules.RULES),
    model=ApexBridgeFields,
    fields=FIELDS,
    is_package=is_package,
    is_extensible=True,
    allowed=frozenset(kind.code for kind in NAME_FORM),
    values=with_json_values,
    record=package_of,
    priority=lambda declared: declared.triggers.priority,
    search_words=searched_words,
    skeleton={
        file.relative_to(_SKELETON).as_posix().removesuffix(".txt"): file.read_text("utf-8")
        for file in sorted(_SKELETON.rglob("*.txt"))
    },
    planned=plan,
    read_for_plan=frozenset(METADATA),
)
