"""Pages of docs/ that are made from the code, and the check of the site built from all pages."""
