"""What must not be shared: found by rules, counted without values, and left out of a redacted copy."""

from __future__ import annotations

from blade.package.sanitize.redact import sanitize
from blade.package.sanitize.report import SanitizeReport, as_json, report_lines, sanitize_checks

__all__ = ["SanitizeReport", "as_json", "report_lines", "sanitize", "sanitize_checks"]
