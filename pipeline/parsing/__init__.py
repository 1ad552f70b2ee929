"""From the bytes of SKILL.md to a document."""
