"""Local mirrors of git repositories, which are roots."""
