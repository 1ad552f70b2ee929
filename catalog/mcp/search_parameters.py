"""Parameters of the search tool, as agents see them."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from catalog.model import values

Query: TypeAlias = Annotated[
    str,
    Field(
        description="The task in a sentence or two, such as: sum up the columns of a CSV file."
        " Without a query, the filters list skills by name."
    ),
]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=100, description="Most results to return.")]
Offset: TypeAlias = Annotated[
    int, Field(ge=0, description="Number of results to skip: the next_offset of a result.")
]
Status: TypeAlias = Annotated[
    values.Status | Literal["all"],
    Field(
        description="Only skills with this status. A shadowed skill has the name of an active one;"
        " read its file at its location, not with read_skill_file."
    ),
]
Level: TypeAlias = Annotated[
    values.Level | None, Field(description="Only skills of roots with this level.")
]
Publisher: TypeAlias = Annotated[
    str,
    Field(description="Only skills of this plugin, owner or author, or of a root of this name."),
]
Root: TypeAlias = Annotated[
    str,
    Field(description="Only skills of this root: its path or repository, or its last part."),
]
Namespace: TypeAlias = Annotated[
    str, Field(description="Only skills of this namespace, as team-a in team-a:review.")
]
Plugin: TypeAlias = Annotated[str, Field(description="Only skills of this plugin.")]
Category: TypeAlias = Annotated[str, Field(description="Only skills of this category.")]
Tag: TypeAlias = Annotated[str, Field(description="Only skills with this tag.")]
Author: TypeAlias = Annotated[str, Field(description="Only skills of this author.")]
License: TypeAlias = Annotated[
    str, Field(description="Only skills with this licence, such as MIT.")
]
Tool: TypeAlias = Annotated[
    str, Field(description="Only skills that ask for this tool in allowed-tools, such as Bash.")
]
Host: TypeAlias = Annotated[
    str, Field(description="Only skills whose files have a URL of this host, such as github.com.")
]
Safety: TypeAlias = Annotated[
    Literal["error", "warning", "info", "clear"] | None,
    Field(
        description="Only skills whose worst finding about safety has this severity; clear for"
        " those that were checked and have none."
    ),
]
HasScripts: TypeAlias = Annotated[
    bool | None, Field(description="Only skills with scripts (true) or without (false).")
]
Valid: TypeAlias = Annotated[
    bool | None,
    Field(description="Only skills that are valid by the specification (true) or not (false)."),
]
ChangedSince: TypeAlias = Annotated[
    str,
    Field(
        description="Only skills changed since a date or time in ISO 8601, or in the last 12h, 7d"
        " or 2w."
    ),
]
