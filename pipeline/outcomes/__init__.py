"""Results of runs that runtimes drop."""
