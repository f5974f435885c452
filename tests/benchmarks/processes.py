"""Runs each measurement in a new process, so that no cache, garbage or warm code affects the next one."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

Figures = dict[str, float]

_MAX_FILES = 4096
_STATM = Path("/proc/self/statm")
_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class MeasurementFailedError(Exception):
    """A measuring process failed; the message is the last line of its standard error."""


def measure_module(name: str, *args: str, limit_s: float | None = None) -> Figures:
    """Run a module of this package, and return the JSON figures in its last line of output."""
    return measure_script([sys.executable, "-m", f"{__package__}.{name}", *args], limit_s)


def measure_script(argv: Sequence[str], limit_s: float | None = None) -> Figures:
    """Run a command, pass on its standard error, and return the JSON figures in its last line of output.

    Raises `MeasurementFailedError`.
    """
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=True)
    except subprocess.TimeoutExpired:
        raise MeasurementFailedError(f"not done in {limit_s:.0f} s") from None
    except subprocess.CalledProcessError as error:
        raise MeasurementFailedError(error.stderr.strip().rpartition("\n")[2] or f"exit {error.returncode}") from None
    sys.stderr.write(done.stderr)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def measure_duration(argv: Sequence[str]) -> Figures:
    """Run a command; return the seconds from its start to its exit."""
    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return {"seconds": time.perf_counter() - started}


def pin_to_core(index: int) -> None:
    """Pin this process, and those it starts from now on, to one of its cores, if the system can."""
    if _CORES:
        os.sched_setaffinity(0, {_CORES[index]})


def resident_bytes() -> int:
    """Return the memory that this process uses; 0 without /proc."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if _STATM.exists() else 0


def allow_many_files() -> None:
    """Allow more open files than the largest crowd has streams: each stream is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < _MAX_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_FILES, hard))
