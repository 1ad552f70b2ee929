"""Engines of a scan: this process alone, a process pool, or a Dask cluster."""
