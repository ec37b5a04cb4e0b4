"""The commands of the workbench: one table for keys, footer, palette and help.

A command is named by its id wherever a person may name it: in the keymap of the settings file,
in the palette, in help. What it does is the action of that name on the screen that shows the
session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.binding import Binding

#: The groups in the order in which help lists them.
GROUPS = ("Find", "Cut and keep", "Summary", "Session", "Look", "Program")


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can ask for.

    `keys` are Textual key names or single characters; the first one is shown. `tooltip` is one
    sentence. `footer` says whether the footer names it. `action` is what Textual runs.
    """

    id: str
    name: str
    tooltip: str
    keys: tuple[str, ...]
    group: str
    footer: bool
    action: str


def _command(
    id: str,  # noqa: A002 - the word of the table
    name: str,
    tooltip: str,
    keys: str,
    group: str,
    *,
    footer: bool = False,
    action: str = "",
) -> Command:
    return Command(
        id, name, tooltip, tuple(keys.split()), group, footer, action or id.replace("-", "_")
    )


_FIND, _CUT, _SUMMARY, _SESSION, _LOOK, _PROGRAM = GROUPS

#: Every command, in the order of the footer.
COMMANDS: tuple[Command, ...] = (
    _command("help", "Help", "All keys and what they do.", "?", _PROGRAM, footer=True),
    _command("search", "Search", "Find a text in every message.", "/", _FIND, footer=True),
    _command("next-hit", "Next hit", "Go to the next message that holds it.", "n", _FIND),
    _command("previous-hit", "Previous hit", "Go to the one before.", "N", _FIND),
    _command(
        "filter", "Filter", "Show only some messages: role, region, tool, size.", "f", _FIND,
        footer=True,
    ),
    _command(
        "boundary-back", "Boundary back", "Keep one group more of the recent messages.", "[",
        _CUT, footer=True, action="boundary(-1)",
    ),
    _command(
        "boundary-forward", "Boundary forward", "Keep one group less of the recent messages.",
        "]", _CUT, footer=True, action="boundary(1)",
    ),
    _command(
        "keep-from-cursor", "Keep from here", "Keep everything from the cursor on.", "b", _CUT
    ),
    _command(
        "pin", "Pin", "Keep this message word for word, or no longer.", "space", _CUT,
        footer=True,
    ),
    _command("focus-budget", "Set the budget", "Go to the budget slider.", "B", _CUT),
    _command("focus-keep", "Set keep recent", "Go to the keep-recent slider.", "K", _CUT),
    _command("policy", "Policy", "Choose a published policy.", "p", _CUT, action="choose_policy"),
    _command(
        "edit-policy", "Edit the policy", "Every setting in a form, with the YAML beside it.",
        "ctrl+e D", _CUT,
    ),
    _command("save-policy", "Save the policy", "Write the policy to a YAML file.", "w", _CUT),
    _command(
        "summarize", "Summarize", "Make the summary with the summarizer of the policy.", "s",
        _SUMMARY, footer=True,
    ),
    _command("edit-summary", "Edit the summary", "Change its text in place.", "e", _SUMMARY),
    _command(
        "edit-outside", "Edit in $EDITOR", "Change the summary in your own editor.", "E", _SUMMARY
    ),
    _command(
        "their-summary", "The tool's own summary",
        "Show the summary that the recording tool made beside ours.", "S", _SUMMARY,
    ),
    _command(
        "compare", "Compare", "Several policies side by side; take one.", "c", _CUT, footer=True
    ),
    _command(
        "export", "Export", "Write the compacted session to a file.", "x", _SESSION, footer=True
    ),
    _command(
        "copy", "Copy", "Copy the message, the summary, or the command line of this setting.",
        "y", _SESSION,
    ),
    _command("open", "Open", "Choose another session.", "o", _SESSION),
    _command(
        "conversation", "Conversation", "Choose another conversation of this file.", "C", _SESSION
    ),
    _command(
        "whole-file", "Whole file", "Show what of the file is not in the window, and why.", "v",
        _SESSION,
    ),
    _command(
        "history", "Live or full", "What is in the window now, or everything ever sent.", "V",
        _SESSION,
    ),
    _command(
        "calibrate", "Counting",
        "Count by o200k_base, calibrated on what the provider reported, or by chars/4.", "t",
        _SESSION,
    ),
    _command("follow", "Follow", "Take in what a running agent adds to the file.", "a", _SESSION),
    _command("undo", "Undo", "Take back the last change of a setting.", "u", _PROGRAM, footer=True),
    _command("redo", "Redo", "Make the change again.", "ctrl+r U", _PROGRAM),
    _command(
        "pane-message", "Message", "Show the message under the cursor.", "1", _LOOK,
        action="pane('message')",
    ),
    _command(
        "pane-summary", "Summary", "Show the summary as it will be sent.", "2", _LOOK,
        action="pane('summary')",
    ),
    _command(
        "pane-result", "Result", "Show the compacted list.", "3", _LOOK, action="pane('result')"
    ),
    _command(
        "pane-findings", "Findings", "Show what is wrong or at risk.", "4", _LOOK,
        action="pane('findings')",
    ),
    _command(
        "pane-usage", "Usage", "Show what takes the tokens: tools, files, repeats.", "5", _LOOK,
        action="pane('usage')",
    ),
    _command(
        "pane-replay", "Replay", "Run the policy over the whole session, call by call.", "6",
        _LOOK, action="pane('replay')",
    ),
    _command(
        "pane-sweep", "Sweep", "Show every budget and keep recent at once, as a map.", "7",
        _LOOK, action="pane('sweep')",
    ),
    _command("open-message", "Open the message", "Read the message at length.", "enter", _LOOK),
    _command("theme", "Theme", "Choose the colours.", "T", _LOOK),
    _command("presenter", "Presenter", "Bigger bars and less around them.", "P", _LOOK),
    _command("back", "Back", "Leave what is open, one step.", "escape", _PROGRAM),
    _command(
        "palette", "Palette", "Find a command by its name.", "ctrl+p :", _PROGRAM, footer=True,
        action="app.command_palette",
    ),
    _command("quit", "Quit", "Leave the workbench.", "q", _PROGRAM, footer=True, action="app.quit"),
)

_BY_ID = {command.id: command for command in COMMANDS}


def command(id: str) -> Command:  # noqa: A002 - the word of the table
    """The command of that id. Raises KeyError for an unknown one."""
    return _BY_ID[id]


def grouped(keymap: Mapping[str, str] | None = None) -> Iterator[tuple[str, tuple[Command, ...]]]:
    """Every group with its commands under their present keys, in the order of GROUPS."""
    for group in GROUPS:
        yield group, tuple(each for each in rebound(keymap) if each.group == group)


def rebound(keymap: Mapping[str, str] | None = None) -> tuple[Command, ...]:
    """COMMANDS with the keys of `keymap` (command id -> "key" or "key,key") in place of theirs.

    A key that was given to another command is taken from the one that had it by default.
    """
    asked = {id_: split_keys(keys) for id_, keys in (keymap or {}).items() if id_ in _BY_ID}
    taken = {key_name(key) for keys in asked.values() for key in keys}
    made = []
    for each in COMMANDS:
        keys = asked.get(each.id)
        if keys is None:
            keys = tuple(key for key in each.keys if key_name(key) not in taken)
        made.append(replace(each, keys=keys))
    return tuple(made)


def bindings(keymap: Mapping[str, str] | None = None) -> list[Binding]:
    """The table as Textual bindings, with the keys of `keymap`; each carries its command's id.

    A command without a key has no binding; the palette still finds it.
    """
    from textual.binding import Binding

    return [
        Binding(
            ",".join(each.keys),
            each.action,
            each.name,
            show=each.footer,
            key_display=shown_key(each.keys[0]),
            tooltip=each.tooltip,
            id=each.id,
        )
        for each in rebound(keymap)
        if each.keys
    ]


def widget_keymap(keymap: Mapping[str, str]) -> dict[str, str]:
    """The entries of `keymap` that are no command's, as `App.set_keymap` takes them."""
    return {
        id_: ",".join(key_name(key) for key in split_keys(keys))
        for id_, keys in keymap.items()
        if id_ not in _BY_ID and split_keys(keys)
    }


def split_keys(keys: str) -> tuple[str, ...]:
    """`"j, down"` as its keys."""
    return tuple(key.strip() for key in keys.split(",") if key.strip())


def key_name(key: str) -> str:
    """The name Textual has for a key: `?` is `question_mark`, names stay."""
    from textual.keys import _character_to_key

    return _character_to_key(key) if len(key) == 1 else key


_SHOWN = {
    "space": "space",
    "escape": "esc",
    "enter": "⏎",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "question_mark": "?",
    "slash": "/",
    "equals_sign": "=",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
}


def shown_key(key: str) -> str:
    """How a key is written for a person: `ctrl+r`, `[`, `esc`."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return "+".join([*modifiers, _SHOWN.get(last, last)])


def keymap_problems(keymap: Mapping[str, str], others: frozenset[str] = frozenset()) -> list[str]:
    """One sentence for every entry of `keymap` that cannot be meant.

    `others` are the ids of bindings that widgets bring along.
    """
    problems = []
    used: dict[str, str] = {}
    for id_, keys in keymap.items():
        if id_ not in _BY_ID and id_ not in others:
            near = get_close_matches(id_, [*_BY_ID, *others], n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "help (?) lists them."
            problems.append(f"keys: there is no command {id_!r}; {hint}")
            continue
        if not split_keys(keys):
            problems.append(f"keys: {id_} has no key; name one, such as {id_}: ctrl+o.")
        if id_ in others:
            continue
        problems.extend(
            f"keys: {shown_key(key)} is given to both {used[key]} and {id_}."
            for key in map(key_name, split_keys(keys))
            if used.setdefault(key, id_) != id_
        )
    return problems
