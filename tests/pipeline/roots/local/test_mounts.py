"""File systems of directories."""

from pathlib import Path

import pytest

from pipeline.roots.local.mounts import device, network_type

MOUNTS = r"""
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw
40 27 0:50 / /srv/skills rw,relatime shared:1 - nfs4 server:/skills rw
41 40 0:51 / /srv/skills/local rw - ext4 /dev/vdb rw
42 27 0:52 / /srv/two\040words rw - cifs //server/share rw
43 27 0:53 / /srv/remote rw - fuse.sshfs me@there: rw
44 27 8:17 / /srv/disk rw - fuseblk /dev/sdb1 rw
45 27 0:54 / /srv/over rw - nfs4 server:/below rw
46 27 8:33 / /srv/over rw - ext4 /dev/vdc rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", None),
        ("/srv/skills", "nfs4"),
        ("/srv/skills/team/a", "nfs4"),
        ("/srv/skills-of-ours", None),
        ("/srv/skills/local/a", None),
        ("/srv/two words", "cifs"),
        ("/srv/remote", "fuse.sshfs"),
        ("/srv/disk", None),
        ("/srv/over", None),
    ],
)
def test_the_deepest_and_last_mount_decides(path: str, kind: str | None) -> None:
    """Network file systems and FUSE are reported, disks are not."""
    assert network_type(path, MOUNTS) == kind


def test_this_machine_can_be_asked(tmp_path: Path) -> None:
    """A temporary directory is local, and keeps its device until it is removed."""
    assert network_type(str(tmp_path)) is None
    assert device(str(tmp_path)) == device(str(tmp_path)) is not None
    assert device(str(tmp_path / "nowhere")) is None


def test_two_file_systems_have_two_devices() -> None:
    """After unmounting, the directory belongs to the file system below it."""
    if Path("/dev/shm").is_mount():
        assert device("/dev/shm") != device("/")
