"""The table of commands: one entry, one key, and what a keymap does to it."""

from __future__ import annotations

from collections import Counter

from textual.binding import BindingsMap

from tui.commands import (
    COMMANDS,
    GROUPS,
    bindings,
    grouped,
    key_name,
    keymap_problems,
    rebound,
    shown_key,
    widget_keymap,
)


def test_ids_and_keys_are_unique() -> None:
    ids = Counter(command.id for command in COMMANDS)
    keys = Counter(key_name(key) for command in COMMANDS for key in command.keys)
    assert set(ids.values()) == {1}
    assert set(keys.values()) == {1}


def test_every_command_has_a_sentence_and_a_group() -> None:
    assert all(command.tooltip.endswith(".") for command in COMMANDS)
    assert {command.group for command in COMMANDS} == set(GROUPS)
    assert [each.id for _, held in grouped() for each in held] == [
        each.id for group in GROUPS for each in COMMANDS if each.group == group
    ]


def test_bindings_carry_the_id_and_the_footer() -> None:
    made = {binding.id: binding for binding in bindings()}
    assert set(made) == {command.id for command in COMMANDS}
    assert made["boundary-back"].action == "boundary(-1)"
    assert made["help"].show
    assert not made["redo"].show
    assert "left_square_bracket" in BindingsMap(bindings()).key_to_bindings


def test_a_keymap_moves_a_command_and_takes_the_key_from_its_owner() -> None:
    made = {command.id: command.keys for command in rebound({"open": "n, ctrl+o"})}
    assert made["open"] == ("n", "ctrl+o")
    assert made["next-hit"] == ()
    assert "next-hit" not in {binding.id for binding in bindings({"open": "n"})}


def test_a_key_is_the_same_however_it_is_spelled() -> None:
    made = {command.id: command.keys for command in rebound({"open": "question_mark"})}
    assert made["help"] == ()


def test_two_commands_may_swap_their_keys() -> None:
    made = {command.id: command.keys for command in rebound({"undo": "e", "edit-summary": "u"})}
    assert (made["undo"], made["edit-summary"]) == (("e",), ("u",))


def test_what_a_keymap_cannot_mean_is_a_sentence() -> None:
    unknown, double, none = keymap_problems({"serach": "k", "pin": "k", "open": "k", "copy": " "})
    assert "'serach'" in unknown
    assert "did you mean search?" in unknown
    assert "k is given to both pin and open" in double
    assert "copy has no key" in none
    assert keymap_problems({"list.down": "s"}, frozenset({"list.down"})) == []


def test_keys_are_shown_as_they_are_printed_on_the_keyboard() -> None:
    shown = [shown_key(key) for key in ("left_square_bracket", "ctrl+r", "escape", "+", "?")]
    assert shown == ["[", "ctrl+r", "esc", "+", "?"]


def test_the_keys_of_widgets_go_to_textual_under_its_names() -> None:
    keymap = {"list.down": "j, ?", "pin": "k", "list.up": " "}
    assert widget_keymap(keymap) == {"list.down": "j,question_mark"}
