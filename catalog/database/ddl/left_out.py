"""Table of the files in skill folders that are part of no version."""

LEFT_OUT = """
CREATE TABLE left_out_files (
    skill INTEGER NOT NULL REFERENCES skills (id),
    path TEXT NOT NULL,                 -- relative to the folder; of a directory, with / at the end
    reason TEXT NOT NULL CHECK (reason IN ('name', 'ignore file', 'secret')),
    detail TEXT NOT NULL,
    PRIMARY KEY (skill, path)
) STRICT, WITHOUT ROWID;
"""
