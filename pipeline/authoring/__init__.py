"""Work on skills before they are shared: lint, add, convert."""
