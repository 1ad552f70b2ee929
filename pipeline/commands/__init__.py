"""The commands of `skilldrop`, a module for each kind of wish."""
