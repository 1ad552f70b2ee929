"""Files and directories by descriptor: markers, safe opening, removal, fsync."""
