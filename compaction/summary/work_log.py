"""The work of a session, collected call by call: files, commands, failures, steps."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from compaction.messages import ToolCall, ToolResult
from compaction.summary.digest_layout import Entry, Layout
from compaction.summary.quoting import flat, quoted, shortened
from compaction.summary.tool_actions import (
    Action,
    action_of,
    bare_command,
    files_looked_at,
    only_looks,
    signature,
)
from compaction.summary.tool_outcomes import Outcome, outcome_of

_COMMAND_CHARS = 160
_ERROR_CHARS = 200
_RESULT_CHARS = 140
_LOOSE_CHARS = 300
_LISTED = 5000
#: Tools that change something in the world, by their own word for it.
_ACTING = re.compile(
    r"(?:^|_|\b|-)(?:create|update|delete|remove|send|book|cancel|exchange|return|transfer"
    r"|modify|set|post|submit|approve"
    r"|refund|pay|order|deploy|merge|close|assign|add|schedule|reset|enable|disable|grant"
    r"|publish|buy|change|move)(?=_|\b|-|[A-Z])",
)
_MAIN = (
    "pytest", "test", "jest", "vitest", "build", "make", "deploy", "commit", "push", "merge",
    "lint", "mypy", "ruff", "tsc", "install", "migrate", "release", "publish", "docker",
    "terraform", "gh pr", "cargo", "go ",
)  # fmt: skip


@dataclass(slots=True)
class _Command:
    """One command, however often it ran: its last outcome counts."""

    text: str
    runs: int = 0
    outcome: Outcome | None = None
    order: int = 0


@dataclass(slots=True, eq=False)
class _Failure:
    """One error, however often it came."""

    what: str
    error: str
    exit: int | None
    order: int
    times: int = 1
    resolved: bool = False


@dataclass(slots=True)
class WorkLog:
    """Everything that tools did, in the order of the messages."""

    pending: dict[str, Action] = field(default_factory=dict)
    changed: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    deleted: dict[str, None] = field(default_factory=dict)
    fetched: Counter[str] = field(default_factory=Counter)
    searched: Counter[str] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)
    commands: dict[str, _Command] = field(default_factory=dict)
    commits: dict[str, int] = field(default_factory=dict)
    failures: dict[str, _Failure] = field(default_factory=dict)
    unresolved: dict[str, list[_Failure]] = field(default_factory=dict)
    acts: dict[str, tuple[str, int]] = field(default_factory=dict)
    delegated: dict[str, int] = field(default_factory=dict)
    declined: dict[str, tuple[str, int]] = field(default_factory=dict)
    answers: dict[str, tuple[str, int]] = field(default_factory=dict)
    plans: dict[str, int] = field(default_factory=dict)
    loose: dict[str, int] = field(default_factory=dict)
    steps: tuple[tuple[str, str], ...] = ()
    steps_at: int = 0
    _late: float = 0.0

    def call(self, part: ToolCall, at: int) -> Action:
        """Note a call made by message `at`."""
        action = action_of(part.name, part.arguments)
        self.pending[part.id] = action
        match action.verb:
            case "planned" if action.steps:
                self.steps, self.steps_at = action.steps, at
            case "planned":
                self.plans.setdefault(action.detail, at)
            case "delegated":
                self.delegated.setdefault(action.targets[0], at)
            case "searched":
                self.searched[_brief(action.targets[0])] += 1
            case "ran":
                self._ran(action.targets[0], at)
            case _:
                pass
        return action

    def _ran(self, command: str, at: int) -> None:
        if only_looks(command):
            self.read.update(files_looked_at(command))
            self.called["shell look-ups"] += 1
            return
        text = bare_command(command)
        if len(self.commands) > _LISTED and text not in self.commands:
            self.commands.pop(next(iter(self.commands)))
        known = self.commands.setdefault(text, _Command(text))
        known.runs += 1
        known.order = at

    def result(self, part: ToolResult, at: int) -> Outcome:
        """Note the result that message `at` holds."""
        called = self.pending.pop(part.call_id, None)
        if called is None and part.call_id and part.text.strip():
            # Without its call nothing says what it is a result of, so its own words are told.
            named = f" of {part.name}" if part.name else ""
            self.told(f"a result{named} that no call waited for", part.text, at)
            return outcome_of(part, command=False)
        action = called or Action("called", part.name)
        outcome = outcome_of(part, command=action.verb == "ran")
        if outcome.declined:
            self.declined.setdefault(_named(action), (outcome.error, at))
            return outcome
        self._note_success(action, outcome, at)
        if outcome.commit:
            self.commits.setdefault(outcome.commit, at)
        if action.verb == "ran" and not only_looks(action.targets[0]):
            known = self.commands.get(bare_command(action.targets[0]))
            if known is not None:
                known.outcome, known.order = outcome, at
        key = _key(action)
        if outcome.ok is False and _found_nothing(action, outcome, part):
            return outcome
        if outcome.ok is False:
            self._fail(action, outcome, key, at)
        elif outcome.ok or action.verb != "ran":
            for failure in self.unresolved.pop(key, ()):
                failure.resolved = True
        return outcome

    def told(self, who: str, text: str, at: int) -> None:
        """Note what message `at` holds, by its own words."""
        words = quoted(text, _LOOSE_CHARS, one_line=True)
        self.loose.setdefault(f"{shortened(who, 80) or 'nobody'}: {words}", at)

    def _note_success(self, action: Action, outcome: Outcome, at: int) -> None:
        if outcome.ok is False:
            return
        match action.verb:
            case "wrote" | "edited":
                self.changed.update(action.targets)
            case "deleted":
                self.deleted.update(dict.fromkeys(action.targets))
            case "read":
                self.read.update(action.targets)
            case "fetched":
                self.fetched.update(action.targets)
            case "asked":
                self.answers.setdefault(outcome.text, (action.targets[0], at))
            case "called":
                self._called(action, outcome, at)
            case _:
                pass

    def _called(self, action: Action, outcome: Outcome, at: int) -> None:
        name = action.tool or "a tool"
        if _ACTING.search(name):
            what = shortened(f"{name}({action.detail})", _COMMAND_CHARS * 2) or name
            told = quoted(_first_line(outcome.text), _RESULT_CHARS, one_line=True)
            self.acts[f"{what} → {told}" if told else what] = (name, at)
        else:
            self.called[name] += 1

    def _fail(self, action: Action, outcome: Outcome, key: str, at: int) -> None:
        error = shortened(outcome.error, _ERROR_CHARS)
        same = f"{key}\0{_numberless(error)}"
        known = self.failures.get(same)
        if known is None:
            if len(self.failures) > _LISTED:
                self.failures.pop(next(iter(self.failures)))
            known = self.failures[same] = _Failure(_named(action), error, outcome.exit, at)
        else:
            known.times += 1
            known.order, known.resolved = at, False
        waiting = self.unresolved.setdefault(key, [])
        if known not in waiting[-1:]:
            waiting.append(known)

    # ----------------------------------------------------------------------------- entries

    def lay_out(self, layout: Layout, messages: int) -> None:
        """Put everything into the sections of `layout`; of `messages`, later ones count more."""
        self._late = 0.9 / max(1, messages)
        self._files(layout)
        self._commands(layout)
        self._failures(layout)
        self._others(layout)

    def _files(self, layout: Layout) -> None:
        add = layout.add
        # The files worked on most come first; the many others leave room for what was run.
        ranks = {path: rank for rank, (path, _) in enumerate(self.changed.most_common())}
        for place, (path, times) in enumerate(self.changed.items()):
            score = 6.8 - 0.15 * min(ranks[path], 40)
            add("Done", Entry((_times(path, times),), score, place, "Changed"))
        for place, path in enumerate(self.deleted):
            add("Done", Entry((f"{path} (deleted)",), 6, len(self.changed) + place, "Changed"))
        for place, (path, times) in enumerate(self.read.items()):
            if path not in self.changed:
                score = 1.5 + min(times, 10) / 10
                add("Done", Entry((_times(path, times),), score, place, "Read"))
        for place, (url, times) in enumerate(self.fetched.items()):
            add("Done", Entry((_times(url, times),), 4, place, "Fetched"))
        for place, (query, times) in enumerate(self.searched.items()):
            if query:
                add("Done", Entry((_times(query, times),), 1, place, "Searched"))
        for place, (name, times) in enumerate(self.called.items()):
            add("Done", Entry((_times(name, times),), 1.2, place, "Called"))

    def _commands(self, layout: Layout) -> None:
        for commit, at in self.commits.items():
            layout.add(
                "Done", Entry((f"committed {shortened(commit, 160)}",), 5.9 + at * self._late, at)
            )
        latest = {signature(text): command.order for text, command in self.commands.items()}
        for command in self.commands.values():
            shown = shortened(command.text, _COMMAND_CHARS)
            if not shown:
                continue
            state = _state(command.outcome)
            times = f" (×{command.runs})" if command.runs > 1 else ""
            told = signature(command.text)
            score = 3.0 + (2.0 if any(word in f"{told} " for word in _MAIN) else 0.0)
            score += 1.5 if command.outcome and command.outcome.tests else 0.0 if state else -1.5
            if told == "git add" or (command.outcome and command.outcome.commit):
                score = 1.0
            if command.order < latest[told]:
                # A later run of the same thing says how it stands now.
                score *= 0.6
            score += command.order * self._late
            layout.add("Done", Entry((f"`{shown}`{state}{times}",), score, command.order))

    def _failures(self, layout: Layout) -> None:
        for failure in self.failures.values():
            status = f" exit {failure.exit}:" if failure.exit else ""
            told = f" “{failure.error}”" if failure.error else ""
            times = f" (×{failure.times})" if failure.times > 1 else ""
            end = " — later it worked" if failure.resolved else ""
            text = f"{failure.what}{status or ':'}{told}{times}{end}".rstrip(":")
            score = (2.0 if failure.resolved else 5.0) + failure.order * self._late
            layout.add("Failed", Entry((text,), score, failure.order))

    def _others(self, layout: Layout) -> None:
        for text, at in self.loose.items():
            layout.add("Done", Entry((text,), 5.0 + at * self._late, at))
        for text, (_, at) in self.acts.items():
            layout.add("Done", Entry((text,), 5.5 + at * self._late, at))
        for task, at in self.delegated.items():
            layout.add("Done", Entry((f"delegated: {quoted(task, 160, one_line=True)}",), 4, at))
        for what, (said, at) in self.declined.items():
            reason = f", saying {quoted(said, 300, one_line=True)}" if said else ""
            layout.add("Decided", Entry((f"the user declined {what}{reason}",), 5, at))
        for answer, (question, at) in self.answers.items():
            asked, told = (quoted(text, 300, one_line=True) for text in (question, answer))
            layout.add("Decided", Entry((f"asked {asked} → {told}",), 6, at))
        for plan, at in self.plans.items():
            text = f"plan: {quoted(plan, 500, one_line=True)}"
            layout.add("Decided", Entry((text, f"plan: {quoted(plan, 160, one_line=True)}"), 5, at))
        for place, (status, step) in enumerate(self.steps):
            done = status.lower() in {"completed", "done", "complete", "cancelled"}
            word = status.replace("_", " ")
            text = f"[{word}] {shortened(step, 200)}" if word else shortened(step, 200)
            where, score = ("Done", 3.5) if done else ("Open", 7.0)
            layout.add(where, Entry((text,), score, self.steps_at * 1000 + place))


def _found_nothing(action: Action, outcome: Outcome, part: ToolResult) -> bool:
    """Whether a look-up "failed" only because nothing matched, or because it printed a failure."""
    if action.verb != "ran" or not only_looks(action.targets[0]):
        return False
    return outcome.exit == 1 or (outcome.exit in {None, 0} and not part.is_error)


def _state(outcome: Outcome | None) -> str:
    if outcome is None or (outcome.ok is None and not outcome.tests):
        return ""
    parts = [f"exit {outcome.exit}"] if outcome.exit is not None else []
    if outcome.exit is None and not outcome.tests:
        parts.append("failed" if outcome.ok is False else "ok")
    if outcome.tests:
        parts.append(outcome.tests)
    return f" → {': '.join(parts)}"


def _named(action: Action) -> str:
    """A call, named for a line about it."""
    if not action.targets:
        return action.tool or "a tool"
    first = shortened(bare_command(action.targets[0]), 120)
    if action.verb == "ran":
        return f"`{first}`"
    return f"{action.tool} {first}" if action.tool else first


def _key(action: Action) -> str:
    """Calls with the same key try the same thing: one that works resolves one that failed."""
    if action.verb == "ran":
        return signature(action.targets[0])
    return f"{action.tool} {action.targets[0] if action.targets else ''}"


def _brief(text: str) -> str:
    text = flat(text)
    return text if len(text) <= 80 and "·" not in text else ""


def _times(text: str, times: int) -> str:
    return f"{text} ×{times}" if times > 1 else text


def _first_line(text: str) -> str:
    return next((line for line in text[:4000].splitlines() if line.strip()), "")


def _numberless(text: str) -> str:
    return "".join("#" if char.isdigit() else char for char in text)
