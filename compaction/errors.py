"""Errors that a person can cause, each with a sentence that says what and where."""

from __future__ import annotations


class CompactionError(Exception):
    """Base of every error this package raises on purpose; `str()` is fit to print."""


class SessionError(CompactionError):
    """A session cannot be read at all: missing, empty, binary, or nothing usable in it."""


class PolicyError(CompactionError):
    """A policy says something impossible or unknown; names the line when it came from YAML."""


class SummarizerError(CompactionError):
    """A summarizer failed, was refused, or returned nothing usable."""


class ExportError(CompactionError):
    """A result cannot be written where or how it was asked for."""


class Cancelled(CompactionError):  # noqa: N818 - it is no error, somebody wanted it
    """Somebody stopped the work before it was done."""
