"""Secrets of a snapshot: left out, a reason to reject it, or only reported."""

from collections.abc import Iterator
from dataclasses import replace

from catalog.model.finding import Finding
from catalog.model.skill import LeftOutFile
from catalog.model.values import SecretRule
from pipeline.roots.codes import SECRET_LEFT_OUT, SECRET_PUBLISHED, SECRET_REFUSED
from pipeline.roots.secrets import Secret
from pipeline.roots.snapshot import PartialSnapshot, Snapshot, digest


def without_secrets(snapshot: Snapshot, rule: SecretRule) -> Snapshot:
    """Return a snapshot after its root's rule for files with secrets was applied."""
    if not snapshot.secrets:
        return snapshot
    secrets = {secret.path: secret for secret in snapshot.secrets}
    problems = (*snapshot.problems, *_findings(snapshot, rule))
    if rule != "leave-out":
        return replace(snapshot, problems=problems)
    secrets.pop(snapshot.skill_md_name or "", None)
    files = tuple(file for file in snapshot.files if file.path not in secrets)
    left_out = (LeftOutFile(path, "secret", _detail(secret)) for path, secret in secrets.items())
    return replace(
        snapshot,
        files=files,
        digest=digest(files) if snapshot.digest else None,
        problems=problems,
        left_out=tuple(sorted((*snapshot.left_out, *left_out))),
    )


def partial_without_secrets(snapshot: PartialSnapshot, rule: SecretRule) -> PartialSnapshot:
    """Return a partial snapshot after the rule for files with secrets was applied."""
    if not snapshot.secrets:
        return snapshot
    left_out = {secret.path for secret in snapshot.secrets} - {snapshot.skill_md_name}
    files = snapshot.files
    if rule == "leave-out":
        files = tuple(file for file in files if file.path not in left_out)
    problems = (*snapshot.problems, *_findings(snapshot, rule))
    return replace(snapshot, files=files, problems=problems)


def _findings(snapshot: Snapshot | PartialSnapshot, rule: SecretRule) -> Iterator[Finding]:
    """Yield a finding for each secret; nothing is left of a skill without its SKILL.md."""
    for secret in snapshot.secrets:
        if rule == "report":
            kind = SECRET_PUBLISHED
        elif rule == "reject" or secret.path == snapshot.skill_md_name:
            kind = SECRET_REFUSED
        else:
            kind = SECRET_LEFT_OUT
        message = f"{secret.path} {_detail(secret)}."
        yield kind.at(message, path=secret.path, line=secret.line)


def _detail(secret: Secret) -> str:
    return f"{secret.clause} in line {secret.line}" if secret.line else secret.clause
