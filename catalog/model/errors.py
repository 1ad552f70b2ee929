"""The errors that a caller can act on; bad skills are findings, never errors."""


class SkilldropError(Exception):
    """The root of all our errors; never raised itself. Its text is one sentence for people."""


class CatalogBusy(SkilldropError):
    """Another process writes this catalog."""


class CatalogUnusable(SkilldropError):
    """The catalog file cannot be opened, is locked, or belongs to another program."""


class CatalogDamaged(CatalogUnusable):
    """The catalog file cannot be read as a database; it has to be rebuilt from the roots."""


class FolderNotOwned(SkilldropError):
    """A folder that skilldrop would write to holds what it did not make."""


class DiskFull(SkilldropError):
    """There is no room left to write."""


class OutOfRoom(SkilldropError):
    """Publishing would take more room than the settings allow; it goes on once there is more."""


class OutOfMemory(SkilldropError):
    """Work failed again and again because there was not enough memory for it."""


class RootUnreadable(SkilldropError):
    """A root is missing or cannot be listed."""


class SettingsInvalid(SkilldropError):
    """The configuration cannot be used as it is written."""


class NotAsJudged(SkilldropError):
    """A skill's files are no longer those that were judged; they have to be looked at again."""


class NotInCatalog(SkilldropError):
    """A name was asked for that the catalog does not have."""


class RequestFailed(SkilldropError):
    """What a command asked of the running service could not be done."""


class SiteUnavailable(SkilldropError):
    """The site cannot listen where it was told to."""


class ClusterUnusable(SkilldropError):
    """A Dask cluster does not answer, or its workers would not judge as this process does."""


class ReplicationFailed(SkilldropError):
    """Litestream is not there, or could not bring a catalog back."""


class ExtraMissing(SkilldropError):
    """A part of skilldrop was asked for that is not installed."""


class PathRefused(SkilldropError):
    """A path or a part of a file was asked for that no published file can have."""


class PackageDamaged(SkilldropError):
    """A published file is missing, or is not what the catalog says of it."""


class MigrationFailed(SkilldropError):
    """A folder could not be migrated to where it should go."""


class NotAdded(SkilldropError):
    """What was to be added to a root will not do, or its place there is taken."""
