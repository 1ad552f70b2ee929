"""Run outcomes, which runtimes write as files."""
