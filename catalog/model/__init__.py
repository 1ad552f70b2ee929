"""Words that both packages share."""
