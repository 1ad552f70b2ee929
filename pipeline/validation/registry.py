"""Registry of all finding types, by code."""

from catalog.model import publication_findings
from catalog.model.finding import FindingType
from pipeline.dialects.apexbridge import codes as apexbridge_codes
from pipeline.outcomes import codes as outcomes_codes
from pipeline.parsing import codes as parsing_codes
from pipeline.roots import codes as roots_codes
from pipeline.roots.archives import codes as archives_codes
from pipeline.validation import codes as validation_codes
from pipeline.validation.profiles.advice import codes
from pipeline.validation.profiles.claude_code import codes as claude_code_codes
from pipeline.validation.profiles.safety import codes as safety_codes
from pipeline.validation.profiles.spec import codes as spec_codes

REGISTRY: dict[str, FindingType] = {
    kind.code: kind
    for module in (
        roots_codes,
        archives_codes,
        parsing_codes,
        validation_codes,
        publication_findings,
        spec_codes,
        codes,
        safety_codes,
        claude_code_codes,
        apexbridge_codes,
        outcomes_codes,
    )
    for kind in module.TYPES
}
