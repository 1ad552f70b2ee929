"""Findings of the `apexbridge` profile: requirements on the fields and files of a package."""

from catalog.model.finding import FindingTypes

OWNER = "ApexBridge"
PURPOSE = (
    "Declarations and files that an ApexBridge package needs; see "
    "[ApexBridge packages](../how-to/apexbridge.md). Checked only if it is named, because other "
    "skills are not such packages."
)
_FORMAT = "ApexBridge, Skill format"
_FRONT_MATTER = f"{_FORMAT}, YAML front matter"
_SECURITY = f"{_FORMAT}, Security policy"
_RESOURCES = f"{_FORMAT}, Resource references"
_LAYOUT = f"{_FORMAT}, Package layout"
_ABP = f"{_FORMAT}, ABP format"
_SCHEMA = f"{_FRONT_MATTER}, input_schema and output_schema; JSON Schema"
TYPES = FindingTypes("apexbridge", _FRONT_MATTER)

REQUIRED_FIELD_MISSING = TYPES.error(
    "required-field-missing",
    "A field that ApexBridge requires is missing or empty.",
    "Add the field; docs/how-to/apexbridge.md shows a package with all of them.",
)
FIELD_MALFORMED = TYPES.error(
    "field-malformed",
    "An ApexBridge field has the wrong type or is out of range.",
    "Use the expected type and range; the field is ignored until then.",
)
VERSION_NOT_SEMANTIC = TYPES.error(
    "version-not-semantic",
    "version is not a semantic version.",
    "Write three numbers separated by dots, such as 1.0.0; a suffix may follow after - or +.",
    f"{_FRONT_MATTER}, version; Semantic Versioning 2.0.0",
)
VALUE_UNKNOWN = TYPES.error(
    "value-unknown",
    "type, protocol, network or filesystem has a value that ApexBridge does not know.",
    "Write one of the values that it knows.",
    f"{_FRONT_MATTER}; Security policy",
)
TRIGGERS_EMPTY = TYPES.warning(
    "triggers-empty",
    "triggers names no intent, no phrase and no event type, so nothing triggers the skill.",
    "Under triggers.phrases, list the phrases with which people ask for the skill.",
    f"{_FORMAT}, Triggers",
)
SCHEMA_INVALID = TYPES.error(
    "schema-invalid",
    "A schema is not valid JSON Schema.",
    "Correct that value; put digits that are meant as text in quotes.",
    _SCHEMA,
)
SECURITY_INCOMPLETE = TYPES.warning(
    "security-incomplete",
    "security does not set the time limit, the memory limit or the network access.",
    "Add the missing fields, such as timeout_ms: 5000, memory_mb: 128, network: none.",
    _SECURITY,
)
ALLOWLIST_MISSING = TYPES.error(
    "allowlist-missing",
    "network is allowlist, but network_allowlist names no address.",
    "List the addresses that the skill needs, or write network: none.",
    _SECURITY,
)
PERMISSIONS_OUTDATED = TYPES.warning(
    "permissions-outdated",
    "permissions is the old form of security.",
    "Write security instead; `skilldrop migrate` does this for you.",
    f"{_FORMAT}, Migration note",
)
RESOURCE_MISSING = TYPES.error(
    "resource-missing",
    "resources names a file that is not in the skill's folder.",
    "Add the file, correct the path (it starts at the skill's folder), or remove it.",
    _RESOURCES,
)
RESOURCE_OUTSIDE_FOLDER = TYPES.error(
    "resource-outside-folder",
    "resources names a path that is not relative or leaves the skill's folder.",
    "Copy the file into the skill's folder, and name it by a path such as ./references/name.",
    _RESOURCES,
)
SCRIPT_MISSING = TYPES.error(
    "script-missing",
    "No file lies under scripts/, so ApexBridge has nothing to execute.",
    "Add scripts/execute.ts or another script.",
    _LAYOUT,
)
ENTRY_MISSING = TYPES.error(
    "entry-missing",
    "The package has several scripts, but resources.entry does not name the one to execute.",
    "Name the script that ApexBridge executes: entry: ./scripts/execute.ts.",
    f"{_FORMAT}, Scripts, references and assets",
)
ENTRY_NOT_SCRIPT = TYPES.error(
    "entry-not-script",
    "resources.entry is not a file under scripts/.",
    "Name a script under scripts/, the folder of all executed code.",
    f"{_FORMAT}, Scripts, references and assets",
)
CODE_OUTSIDE_SCRIPTS = TYPES.error(
    "code-outside-scripts",
    "The file is executable code outside scripts/ and tests/.",
    "Move it to scripts/, or to tests/ if it is a test.",
    _LAYOUT,
)
SECTION_MISSING = TYPES.error(
    "section-missing",
    "The body lacks a section that ApexBridge requires.",
    "Add a heading for it, in Chinese or English, with a sentence or two below it.",
    f"{_FORMAT}, Required sections",
)
ABP_MISSING = TYPES.warning(
    "abp-missing",
    "protocol is abp, but abp declares no tools.",
    "List the tools under abp.tools, each with a name, parameters and returns.",
    _ABP,
)
ABP_UNUSED = TYPES.warning(
    "abp-unused",
    "abp declares tools, but protocol is not abp, so they are not used.",
    "Add protocol: abp, or remove abp.",
    _ABP,
)
TOOL_INCOMPLETE = TYPES.warning(
    "tool-incomplete",
    "A tool under abp does not declare its parameters or its returns.",
    "Add parameters and returns to it; a tool without parameters has parameters: {}.",
    _ABP,
)
TOOL_TWICE = TYPES.error(
    "tool-twice",
    "Two tools under abp have the same name.",
    "Rename one of them; agents call a tool by its name.",
    _ABP,
)
