"""Profile of recommendations: findable, short and easy to follow skills."""
