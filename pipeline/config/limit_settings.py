"""Settings of limits: what is read of a folder, and how much history is kept."""

from typing import Literal

from pydantic import ByteSize, Field, FiniteFloat

from catalog.model.quota import Quota
from catalog.prompt_index.history import USUAL, IndexRetention
from catalog.writing.retention import HistoryRetention, Retention
from pipeline.config.scan_settings import QUOTA, VERSIONS_PER_HOUR
from pipeline.config.table import A_SIZE, Table


class LimitSettings(Table):
    """Settings of `[limits]`: the largest allowed folder and archive; larger ones are rejected."""

    files: int = Field(2000, gt=0, description="a whole number of files above 0")
    bytes: ByteSize = Field(ByteSize(100 * 2**20), gt=0, description=A_SIZE)
    depth: int = Field(32, gt=0, description="a whole number of nested folders above 0")
    skill_md_bytes: ByteSize = Field(ByteSize(2**20), gt=0, description=A_SIZE)
    text_bytes: ByteSize = Field(
        ByteSize(2**16), ge=0, description='a number of bytes or a size such as "64 KiB"'
    )
    archive_members: int = Field(20_000, gt=0, description="a whole number of files above 0")
    archive_bytes: ByteSize = Field(ByteSize(512 * 2**20), gt=0, description=A_SIZE)
    hard_links: Literal["report", "reject"] = Field("report", description="one of report, reject")


class RetentionSettings(Table):
    """Settings of `[retention]`: how much history is kept."""

    index_builds: int = Field(
        USUAL.builds, gt=0, description="a whole number of publications of each index above 0"
    )
    index_days: int = Field(
        USUAL.days, gt=0, le=36_500, description="a whole number of days from 1 to 36500"
    )

    versions: int = Field(
        Retention().versions,
        gt=0,
        description="a whole number of published versions of each skill above 0",
    )
    version_days: FiniteFloat = Field(
        Retention().days, ge=0, description="a number of days, 0 or more"
    )
    grace: FiniteFloat = Field(
        Retention().grace, ge=0, description="a number of seconds, 0 or more"
    )

    share_files: Literal["never", "hard-links"] = Field(
        "never", description="one of never, hard-links"
    )

    history_rows: int = Field(
        HistoryRetention().rows,
        gt=0,
        description="a whole number of versions and ingestions of each skill above 0",
    )
    history_days: FiniteFloat = Field(
        HistoryRetention().days, ge=0, description="a number of days, 0 or more"
    )
    versions_per_hour: int = Field(
        VERSIONS_PER_HOUR,
        gt=0,
        description="a whole number of versions of each skill in an hour above 0",
    )
    packages_bytes: ByteSize | None = Field(None, gt=0, description=A_SIZE)
    free_bytes: ByteSize = Field(
        ByteSize(QUOTA.free_bytes),
        ge=0,
        description='a number of bytes or a size such as "512 MiB"',
    )

    @property
    def quota(self) -> Quota:
        """Limits of publication, as the catalog's Quota."""
        return Quota(self.versions_per_hour, self.packages_bytes, self.free_bytes)

    @property
    def of_history(self) -> HistoryRetention:
        """Retention of history rows."""
        return HistoryRetention(self.history_rows, self.history_days)

    @property
    def of_packages(self) -> Retention:
        """Retention of published versions."""
        return Retention(self.versions, self.version_days, self.grace)

    @property
    def of_indexes(self) -> IndexRetention:
        """Retention of index publications."""
        return IndexRetention(self.index_builds, self.index_days)
