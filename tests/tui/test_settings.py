"""The settings file: what it remembers, and that nothing in it stops a start."""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction.policy import Policy, preset
from tui.settings import RECENT, Settings, load, save, settings_path
from tui.state import toggled_pin


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACTION_CONFIG_DIR", str(tmp_path / "config"))
    return settings_path()


def written(path: Path, text: str) -> tuple[Settings, tuple[str, ...]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load()


def test_no_file_is_no_warning(path: Path) -> None:
    assert load() == (Settings(), ())


def test_what_is_saved_is_read_again(path: Path) -> None:
    settings = Settings(
        theme="workbench-light",
        policy=Policy(budget=5_000, keep_recent=3),
        keymap={"pin": "ctrl+k", "list.down": "j,s"},
        pane="findings",
    ).opened("/sessions/ä b.jsonl")
    assert save(settings) == ""
    assert load() == (settings, ())
    assert [each.name for each in path.parent.iterdir()] == ["settings.yaml"]


def test_a_published_policy_is_kept_by_its_name_and_pins_are_not_kept(path: Path) -> None:
    save(Settings(policy=toggled_pin(preset("three-region"), 12)))
    assert "policy: three-region\n" in path.read_text()
    assert load()[0].policy == preset("three-region")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("theme: dark\ncolour: x\n", 2, "'colour'"),
        ("theme: dark\nkeys: {pin: k\n", 3, "not YAML"),
        ("theme: dark\nkeys:\n  serach: k\n", 3, "did you mean search?"),
        ("theme: dark\nkeys:\n  pin: k\n  open: k\n", 4, "both pin and open"),
        ("theme: dark\n\npane: sumary\n", 3, "did you mean summary?"),
        ("theme: dark\npolicy:\n  trigger: 90k\n  recnt: 3\n", 4, "recnt"),
        ("theme: dark\npolicy: three-regions\n", 2, "three-region"),
        ("theme: dark\nrecent:\n- a\n- [b]\n", 4, "recent"),
        ("- theme\n", 1, "must hold settings"),
    ],
)
def test_what_cannot_be_used_is_a_warning_with_its_line(
    path: Path, text: str, line: int, words: str
) -> None:
    settings, warnings = written(path, text)
    (warning,) = warnings
    assert f"settings.yaml, line {line}: " in warning
    assert words in warning
    assert settings.theme in {"dark", ""}


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"[" * 5_000, b"a: \x00", b""])
def test_no_bytes_stop_a_start(path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    settings, warnings = load()
    assert settings == Settings()
    assert len(warnings) == bool(data)


def test_a_folder_in_its_place_is_told_on_both_ways(path: Path) -> None:
    path.mkdir(parents=True)
    assert "cannot be read" in load()[1][0]
    assert "were not saved" in save(Settings())


def test_keys_of_one_letter_that_yaml_takes_for_words(path: Path) -> None:
    settings, warnings = written(path, "keys:\n  open: n\n  next-hit: y\n  copy: [ctrl+y, c]\n")
    assert warnings == ()
    assert settings.keymap == {"open": "n", "next-hit": "y", "copy": "ctrl+y,c"}


def test_unknown_entries_survive_and_a_broken_file_is_put_aside(path: Path) -> None:
    written(path, "colour: x\ntheme: old\n")
    save(Settings(theme="new"))
    assert "colour: x" in path.read_text()
    assert load()[0].theme == "new"
    written(path, "keys: {pin: k\n")
    save(Settings(theme="newer"))
    assert load() == (Settings(theme="newer"), ())
    assert (path.parent / "settings.yaml.unreadable").read_text() == "keys: {pin: k\n"


def test_a_linked_file_stays_a_link(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.yaml"
    real.write_text("theme: old\n")
    path.parent.mkdir()
    path.symlink_to(real)
    save(Settings(theme="new"))
    assert path.is_symlink()
    assert "theme: new" in real.read_text()


def test_recent_files_are_newest_first_once_and_few() -> None:
    settings = Settings()
    for number in range(RECENT + 5):
        settings = settings.opened(f"/s/{number}")
    settings = settings.opened("/s/10")
    assert settings.recent[:2] == ("/s/10", f"/s/{RECENT + 4}")
    assert len(settings.recent) == RECENT
    assert settings.recent.count("/s/10") == 1
