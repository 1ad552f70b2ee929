"""Copy of a site's skills on another machine, by the standard library of Python 3.9 alone."""
