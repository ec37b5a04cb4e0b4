"""Summarizers: what turns the replaced messages into one text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from compaction.errors import SummarizerError
from compaction.summary.callables import FromCallable
from compaction.summary.command import Command
from compaction.summary.digest import Digest
from compaction.summary.placeholder import Placeholder
from compaction.summary.protocol import Summarizer, SummaryRequest

if TYPE_CHECKING:
    from compaction.summary.chat_api import Api

__all__ = [
    "Command",
    "Digest",
    "FromCallable",
    "Placeholder",
    "Summarizer",
    "SummaryRequest",
    "summarizer_named",
]

_FORMS = "digest, none, command:…, python:module:function, openai:MODEL, anthropic:MODEL"


def summarizer_named(spec: str) -> Summarizer:
    """The summarizer that `spec` names: `digest`, `none`, `command:SHELL LINE`,
    `python:module:function`, `openai:MODEL` or `anthropic:MODEL`.

    Raises SummarizerError when the name is unknown, the command empty, the function missing, or
    no key for the model is set.
    """
    kind, _, rest = spec.strip().partition(":")
    match kind:
        case "digest" | "" if not rest:
            return Digest()
        case "none" if not rest:
            return Placeholder()
        case "command":
            if not rest.strip():
                raise SummarizerError("command: needs a shell line after the colon.")
            return Command(rest.strip())
        case "python":
            return _from_module(rest, spec)
        case "openai":
            return _model("openai", rest)
        case "anthropic":
            return _model("anthropic", rest)
        case _:
            raise SummarizerError(f"No summarizer is called {spec!r}; known are {_FORMS}.")


def _model(api: Api, model: str) -> Summarizer:
    # What speaks to a server is imported when somebody wants one to be spoken to.
    from compaction.summary.chat_api import ChatApi

    return ChatApi(api, model)


def _from_module(place: str, spec: str) -> Summarizer:
    module_name, _, function_name = place.partition(":")
    if not module_name or not function_name:
        raise SummarizerError(f"{spec!r} must name a function: python:module:function.")
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise SummarizerError(f"{spec!r} cannot be imported: {error}.") from error
    target: object = module
    for part in function_name.split("."):
        target = getattr(target, part, None)
    if not callable(target):
        raise SummarizerError(f"{module_name} has no function {function_name!r}.")
    return FromCallable(target, name=spec.strip())
