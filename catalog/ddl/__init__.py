"""The statements that migrations run, a module for each subject."""
