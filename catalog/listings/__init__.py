"""Rules by which agents tell their model about the skills of a directory."""
