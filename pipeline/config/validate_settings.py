"""Settings of `skilldrop validate`: the table `[validate]` of skilldrop.toml or pyproject.toml."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Field, model_validator

from catalog.model.values import Severity
from pipeline.config.table import Table

Selectors: TypeAlias = Annotated[
    tuple[str, ...], Field(description="a list of finding codes and profiles")
]
Patterns: TypeAlias = Annotated[
    tuple[str, ...], Field(description="a list of patterns, as in a .gitignore")
]


class ValidateSettings(Table):
    """Settings of `[validate]`; hyphens in keys are read as underscores."""

    select: Selectors = ()
    extend_select: Selectors = ()
    ignore: Selectors = ()
    per_path_ignores: dict[str, Selectors] = Field(
        {}, description="a table of patterns, each with a list of finding codes and profiles"
    )
    exclude: Patterns = ()
    severity: dict[str, Severity] = Field(
        {}, description="a table of finding codes and profiles, each error, warning or info"
    )

    docs_url: str | None = Field(
        None, pattern=r"\Ahttps?://", description="the address of a page, with http or https"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_underscores(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {str(key).replace("-", "_"): value for key, value in values.items()}
