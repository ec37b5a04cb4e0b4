"""Small sessions shipped with the workbench, for the demo and for trying things out."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

#: The name of the sample that `compaction demo` opens.
DEMO = "login-refactor"


@dataclass(frozen=True, slots=True)
class Sample:
    """One bundled session: its name, its file, and what there is to see in it."""

    name: str
    file: str
    title: str
    description: str


_SAMPLES: tuple[Sample, ...] = (
    Sample(
        "login-refactor",
        "login-refactor.jsonl",
        "Moving a login to server-side sessions",
        "A Claude Code session over budget: parallel tool calls, failing tests, and rules"
        " the user repeats (never touch migrations/).",
    ),
    Sample(
        "storm-surge-research",
        "storm-surge-research.json",
        "Storm surges at eight stations",
        "A research agent (Anthropic Messages) with long tool outputs: papers, tables, "
        "daily series.",
    ),
    Sample(
        "scheduler-thinking",
        "scheduler-thinking.json",
        "A scheduler that burns a core after sleep",
        "Anthropic Messages with signed thinking and a redacted block.",
    ),
    Sample(
        "exchange-rates-codex",
        "exchange-rates-codex.jsonl",
        "Exchange rates for a ledger",
        "A Codex rollout that was compacted once already, with sealed reasoning.",
    ),
    Sample(
        "greenhouse-reasoning",
        "greenhouse-reasoning.json",
        "Sensors that lie",
        "OpenAI Responses items with encrypted reasoning bound to parallel calls.",
    ),
    Sample(
        "support-chat",
        "support-chat.json",
        "Half a wheelset",
        "A support chat (OpenAI Chat Completions) with tools and a refund limit.",
    ),
    Sample(
        "floor-plan-images",
        "floor-plan-images.json",
        "A floor plan, a chart and a texture",
        "OpenAI Chat Completions with three small pictures.",
    ),
    Sample(
        "kanazawa-trip",
        "kanazawa-trip.jsonl",
        "金沢への旅",
        "A chat in Japanese, one message a line, with an allergy that must not be forgotten.",
    ),
    Sample(
        "incident-review",
        "incident-review.yaml",
        "Forty-seven minutes without search",
        "A blameless incident review kept as YAML.",
    ),
    Sample(
        "town-hall-triage",
        "town-hall-triage.jsonl",
        "Five letters to the town hall",
        "Fine-tuning data: one conversation a line.",
    ),
    Sample(
        "sourdough-question",
        "sourdough-question.json",
        "A flat loaf",
        "Six messages, far under any budget.",
    ),
    Sample(
        "hostile-upload",
        "hostile-upload.jsonl",
        "An upload that attacks its reader",
        "Markup, escape sequences, bidi controls, special tokens, a huge line and lone "
        "surrogates.",
    ),
)


def samples() -> tuple[Sample, ...]:
    """Every bundled session, the demo first."""
    return _SAMPLES


def path(name: str) -> Path:
    """Where the sample called `name` is. Raises KeyError for a name that is none."""
    for sample in _SAMPLES:
        if sample.name == name:
            return Path(str(files(__name__) / sample.file))
    raise KeyError(name)
