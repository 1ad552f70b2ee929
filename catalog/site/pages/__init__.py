"""HTML pages of the site, one module per page or group of pages."""
