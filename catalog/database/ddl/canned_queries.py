"""The indexes for questions that are asked often, over tables that grow."""

QUESTIONS = """
-- What kinds of findings there are is counted from this alone.
DROP INDEX findings_by_code;
CREATE INDEX findings_by_kind ON findings (code, severity, profile, skill);
CREATE INDEX skills_newest_rejected ON skills (newest_rejected_at)
    WHERE newest_rejected_at IS NOT NULL;
-- The service asks for these every second.
CREATE INDEX requests_unbegun ON requests (asked_at) WHERE started_at IS NULL;
CREATE INDEX outcome_rejections_by_path ON outcome_rejections (path);
"""
