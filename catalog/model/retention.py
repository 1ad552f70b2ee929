"""Limits of the history and of publication."""

from pydantic import ByteSize, Field, FiniteFloat
from pydantic.dataclasses import dataclass as settings_table

from catalog.model.setting import A_SIZE, STRICT, Size


@settings_table(frozen=True, slots=True, config=STRICT)
class Retention:
    """Limits of each skill's and each index's history: the table `[retention]`.

    The published version counts among `versions`; `version_days` begin when it is superseded, and
    nothing is removed within `grace`, for its readers. `history_rows` are versions, and as many
    ingestions; `history_days` begin when a version is superseded, a skill removed or an ingestion
    made. A limit of None does not apply.
    """

    index_builds: int = Field(
        default=1000, gt=0, description="a whole number of publications of each index above 0"
    )
    index_days: int = Field(
        default=365, gt=0, le=36_500, description="a whole number of days from 1 to 36500"
    )

    versions: int = Field(
        default=10, gt=0, description="a whole number of published versions of each skill above 0"
    )
    version_days: FiniteFloat = Field(default=90.0, ge=0, description="a number of days, 0 or more")
    grace: FiniteFloat = Field(default=600.0, ge=0, description="a number of seconds, 0 or more")
    history_rows: int = Field(
        default=200,
        gt=0,
        description="a whole number of versions and ingestions of each skill above 0",
    )
    history_days: FiniteFloat = Field(
        default=365.0, ge=0, description="a number of days, 0 or more"
    )
    versions_per_hour: int = Field(
        default=120,
        gt=0,
        description="a whole number of versions of each skill in an hour above 0",
    )
    packages_bytes: Size | None = Field(default=None, gt=0, description=A_SIZE)
    free_bytes: Size = Field(
        default=ByteSize(512 * 2**20),
        ge=0,
        description='a number of bytes or a size such as "512 MiB"',
    )
