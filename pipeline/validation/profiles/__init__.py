"""Named sets of rules, one folder each."""
