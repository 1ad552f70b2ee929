"""Executors of a scan: one process, many, or a Dask cluster."""
