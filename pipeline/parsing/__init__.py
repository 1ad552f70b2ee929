"""Parser of SKILL.md: bytes to frontmatter, body and findings."""
