"""What must not be shared: found by rules, counted without values, and left out of a redacted copy."""

from __future__ import annotations

from blade.package.sanitize.checks import sanitize_checks
from blade.package.sanitize.found import Sanitized
from blade.package.sanitize.sanitizing import sanitize

__all__ = ["Sanitized", "sanitize", "sanitize_checks"]
