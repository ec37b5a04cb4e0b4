"""What the workbench remembers from one start to the next, in a YAML file a person can edit.

Nothing in that file can stop the workbench: what cannot be used is a warning that names the line,
and the default stands in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from compaction.errors import PolicyError
from compaction.policy import Policy, preset, presets
from compaction.policy_blocks import nearest
from tui.commands import keymap_problems
from tui.writing import write_text

if TYPE_CHECKING:
    import yaml

Pane = Literal["message", "summary", "result", "findings", "usage", "replay", "sweep"]

#: Panes that are charts, with a cursor of their own.
CHARTS: frozenset[Pane] = frozenset({"replay", "sweep"})

#: Recent files that are remembered.
RECENT = 20
_MAX_BYTES = 1_000_000
_KEYS = ("theme", "policy", "recent", "keys", "pane")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is remembered.

    `theme` is a name that may no longer exist; "" for none chosen. `policy` is the last one used,
    without pins; None for none. `recent` are absolute paths, the newest first. `keymap` gives
    keys ("k" or "k,ctrl+k") by the id of a command or of a widget's binding.
    """

    theme: str = ""
    policy: Policy | None = None
    recent: tuple[str, ...] = ()
    keymap: Mapping[str, str] = field(default_factory=dict)
    pane: Pane = "message"

    def opened(self, path: str | os.PathLike[str]) -> Settings:
        """These settings with `path` as the most recent file."""
        newest = str(Path(path).absolute())
        others = tuple(each for each in self.recent if each != newest)
        return replace(self, recent=(newest, *others)[:RECENT])


def settings_path() -> Path:
    """Where the settings are: $COMPACTION_CONFIG_DIR, else the platform's place for them."""
    chosen = os.environ.get("COMPACTION_CONFIG_DIR")
    if chosen:
        return Path(chosen) / "settings.yaml"
    from platformdirs import user_config_path

    return user_config_path("compaction-workbench", appauthor=False) / "settings.yaml"


def load(path: Path | None = None) -> tuple[Settings, tuple[str, ...]]:
    """The settings, and a sentence for everything in the file that could not be used.

    No file is no settings and no warning.
    """
    path = settings_path() if path is None else path
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return Settings(), (f"the settings file {path} cannot be read: {why}.",)
    reading = _Reading(path)
    settings = reading.settings(data)
    return settings, tuple(reading.warnings)


def save(settings: Settings, path: Path | None = None) -> str:
    """Write the settings, completely or not at all; gives "" or why they were not.

    Entries this program does not know stay. A file that is no YAML is kept beside the new one,
    as `settings.yaml.unreadable`.
    """
    import yaml

    path = settings_path() if path is None else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {**_entries(settings), **_unknown(path)}
    except OSError as error:
        why = error.strerror or str(error)
    else:
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=96)
        why = write_text(path, f"# Settings of the compaction workbench.\n{text}")
    return f"the settings were not saved in {path}: {why}." if why else ""


def _entries(settings: Settings) -> dict[str, Any]:
    import yaml

    out: dict[str, Any] = {}
    if settings.theme:
        out["theme"] = settings.theme
    if settings.policy is not None:
        policy = settings.policy
        # Pins are indexes of one session.
        unpinned = policy.replace(head=replace(policy.head, pins=()))
        named = unpinned.name in presets() and unpinned == preset(unpinned.name)
        out["policy"] = unpinned.name if named else yaml.safe_load(unpinned.to_yaml())
    out["pane"] = settings.pane
    if settings.keymap:
        out["keys"] = dict(settings.keymap)
    if settings.recent:
        out["recent"] = [path for path in settings.recent if path.isprintable()]
    return out


def _unknown(path: Path) -> dict[Any, Any]:
    """The entries of the file there that are none of ours; a broken file is put aside."""
    import yaml

    try:
        held = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        path.replace(path.with_name(f"{path.name}.unreadable"))
        return {}
    if not isinstance(held, dict):
        return {}
    return {name: value for name, value in held.items() if name not in _KEYS}


class _Reading:
    """One reading of a settings file, with the warnings it gathers."""

    def __init__(self, path: Path) -> None:
        self.warnings: list[str] = []
        self._path = path

    def warn(self, sentence: str, line: int | None = None) -> None:
        where = f"{self._path}, line {line}" if line is not None else str(self._path)
        self.warnings.append(f"{where}: {sentence}")

    def settings(self, data: bytes) -> Settings:
        import yaml

        if len(data) > _MAX_BYTES:
            self.warn(f"it is over {_MAX_BYTES:,} bytes and was not read.")
            return Settings()
        try:
            text = data.decode("utf-8-sig")
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except UnicodeDecodeError as error:
            self.warn(f"it is not UTF-8 text (byte {error.start:,}).")
            return Settings()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = error.problem or error.context or "it cannot be read"
            self.warn(f"this is not YAML: {what}.", mark.line + 1 if mark else None)
            return Settings()
        except yaml.YAMLError as error:
            self.warn(f"this is not YAML: {str(error).splitlines()[0]}.")
            return Settings()
        except RecursionError:
            self.warn("it is nested too deeply for settings.")
            return Settings()
        if root is None:
            return Settings()
        if not isinstance(root, yaml.MappingNode):
            self.warn("it must hold settings, one `name: value` a line.", _line(root))
            return Settings()
        return self._of(root, text)

    def _of(self, root: yaml.MappingNode, text: str) -> Settings:
        given: dict[str, Any] = {}
        for key, node in root.value:
            name = str(key.value)
            if name not in _KEYS:
                hint = nearest(name, _KEYS)
                self.warn(
                    f"there is no setting {name!r}{hint}; known are {', '.join(_KEYS)}.",
                    _line(key),
                )
            elif name == "theme":
                given["theme"] = self._word(name, node)
            elif name == "policy":
                given["policy"] = self._policy(node, text)
            elif name == "recent":
                given["recent"] = tuple(self._words(name, node))[:RECENT]
            elif name == "keys":
                given["keymap"] = self._keymap(node)
            else:
                given["pane"] = self._pane(node)
        return Settings(**given)

    def _word(self, name: str, node: yaml.Node) -> str:
        import yaml

        if isinstance(node, yaml.ScalarNode):
            return "" if node.tag.endswith(":null") else str(node.value)
        self.warn(f"{name} must be one word.", _line(node))
        return ""

    def _words(self, name: str, node: yaml.Node) -> list[str]:
        import yaml

        if not isinstance(node, yaml.SequenceNode):
            word = self._word(name, node)
            return [word] if word else []
        return [word for each in node.value if (word := self._word(f"an entry of {name}", each))]

    def _pane(self, node: yaml.Node) -> str:
        word, known = self._word("pane", node), get_args(Pane)
        if word in known:
            return word
        self.warn(
            f"pane is {word!r}{nearest(word, known)}; it must be one of {', '.join(known)}.",
            _line(node),
        )
        return "message"

    def _keymap(self, node: yaml.Node) -> dict[str, str]:
        import yaml

        if not isinstance(node, yaml.MappingNode):
            if self._word("keys", node):
                self.warn("keys must be a list of `command: key`.", _line(node))
            return {}
        keymap: dict[str, str] = {}
        others = widget_binding_ids()
        for key, value in node.value:
            name = str(key.value)
            keymap[name] = ",".join(self._words(f"the key of {name}", value))
            # The new entry comes last, so what is wrong is told where it went wrong.
            for problem in keymap_problems(keymap, others):
                if not any(problem in told for told in self.warnings):
                    self.warn(problem, _line(key))
        return {name: keys for name, keys in keymap.items() if keys}

    def _policy(self, node: yaml.Node, text: str) -> Policy | None:
        import yaml

        from compaction.policy_yaml import policy_of_text

        start, end = node.start_mark, node.end_mark
        try:
            if isinstance(node, yaml.ScalarNode):
                name = self._word("policy", node)
                return preset(name) if name else None
            # Where it stands in the file, so that lines are told as they are there.
            held = "\n" * start.line + " " * start.column + text[start.index : end.index]
            return policy_of_text(held, str(self._path))
        except PolicyError as error:
            told = str(error)
            if told.startswith(str(self._path)):
                self.warnings.append(told)
            else:
                self.warn(told, _line(node))
            return None


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def widget_binding_ids() -> frozenset[str]:
    """The ids of the bindings that widgets and dialogs bring along, which a keymap may name."""
    from textual.binding import Binding

    from tui.screens import choose, dialog, help, open  # noqa: A004 - modules of those names
    from tui.widgets import (
        detail,
        line_list,
        message_list,
        search_bar,
        slider,
        summary_view,
        text_pane,
    )

    owners = (
        line_list.LineList,
        message_list.MessageList,
        slider.Slider,
        text_pane.TextPane,
        detail.MessageDetail,
        summary_view.SummaryView,
        search_bar.EntryBar,
        dialog.Dialog,
        open.OpenSession,
        choose.Choose,
        help.Help,
    )
    return frozenset(
        binding.id
        for owner in owners
        for binding in owner.BINDINGS
        if isinstance(binding, Binding) and binding.id
    )
