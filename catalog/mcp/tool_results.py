"""Structured results of the tools, from which their output schemas are made."""

from typing import Self

from pydantic import BaseModel, Field

from catalog.database import sql
from catalog.reading.search_hits import Hit
from catalog.text.sanitize import one_line


class OtherSkills(BaseModel):
    """Skills of the same name."""

    count: int
    first: list[str] = Field(description="Paths of the first of them.")


class FoundSkill(BaseModel):
    """Skill that a search found."""

    name: str
    skill_id: str
    description: str
    status: str
    level: str
    version: str | None
    location: str = Field(description="Path or URI of SKILL.md.")
    score: float
    matched: list[str] = Field(description="Words of the query that the skill has.")
    snippet: str
    others: OtherSkills

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Return a hit with the text of its skill in single lines."""
        return cls(
            name=one_line(hit.name),
            skill_id=hit.skill_id,
            description=one_line(hit.description),
            status=hit.status,
            level=hit.level,
            version=hit.version,
            location=one_line(hit.location),
            score=hit.score,
            matched=list(hit.matched),
            snippet=one_line(hit.snippet),
            others=OtherSkills(
                count=hit.others.count, first=[one_line(path) for path in hit.others.first]
            ),
        )


class FoundSkills(BaseModel):
    """Result of search_skills."""

    skills: list[FoundSkill]
    next_offset: int | None = Field(description="Offset of the next page, if there is one.")
    note: str = Field("", description="Words or filters that no skill has.")


class ListedSkill(BaseModel):
    """Skill in the list of all."""

    name: str
    skill_id: str
    description: str
    level: str

    @classmethod
    def of(cls, row: sql.Row) -> Self:
        """Return a skill with its text in single lines."""
        return cls(
            name=one_line(row["name"]),
            skill_id=row["skill_id"],
            description=one_line(row["description"]),
            level=row["level"],
        )


class ListedSkills(BaseModel):
    """Result of list_skills."""

    total: int
    offset: int
    skills: list[ListedSkill]
    next_offset: int | None = Field(description="Offset of the next page, if there is one.")
