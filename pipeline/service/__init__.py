"""Service of `skilldrop up`: a loop that runs for months."""
