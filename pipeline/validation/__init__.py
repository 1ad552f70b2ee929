"""From a document to findings and a verdict."""
