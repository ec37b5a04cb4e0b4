"""Contrast of the themes, no colour when asked, and what palette and clipboard do."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import Monochrome
from textual.theme import Theme

from tui import clipboard
from tui.palette import CommandProvider
from tui.themes import DARK, LIGHT, Uncoloured, line_filters, register, wants_no_color

_LETTERS = ("head", "summarized", "recent", "footer-description-foreground")


def luminance(color: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in Color.parse(color).normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_letters_can_be_read_on_every_ground(theme: Theme) -> None:
    letters = [theme.variables[name] for name in _LETTERS]
    letters += [
        color
        for color in (theme.foreground, theme.accent, theme.warning, theme.error, theme.success)
        if color
    ]
    for ground in (theme.background, theme.surface, theme.panel):
        assert ground
        assert min(contrast(color, ground) for color in letters) >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_the_colours_of_regions_mean_nothing_else(theme: Theme) -> None:
    regions = {theme.variables[name] for name in ("head", "summarized", "recent")}
    others = {theme.primary, theme.accent, theme.warning, theme.error, theme.success}
    assert len(regions) == 3
    assert not regions & others


async def test_the_themes_can_be_chosen() -> None:
    app: App[None] = App()
    register(app)
    async with app.run_test() as pilot:
        app.theme = LIGHT.name
        await pilot.pause()
        assert not app.current_theme.dark
        assert app.theme_variables["summarized"] == LIGHT.variables["summarized"]


# ----------------------------------------------------------------------------------- no colour


def test_an_empty_no_color_is_no_wish() -> None:
    assert wants_no_color({"NO_COLOR": "1"})
    assert not wants_no_color({"NO_COLOR": ""})
    assert not wants_no_color({})


def test_the_filters_of_textual_give_way() -> None:
    grey = Monochrome()
    assert line_filters([grey], no_color=False) == []
    (only,) = line_filters([grey], no_color=True)
    assert isinstance(only, Uncoloured)


def test_no_colour_is_left_and_a_cursor_is_reversed() -> None:
    ground = Color.parse("#10161c")
    segments = [
        Segment("plain", Style.parse("#58a6ff on #10161c")),
        Segment("cursor", Style.parse("bold #d5dde5 on #343251")),
        Segment("link", Style.parse("red on #10161c") + Style(meta={"@click": "x"})),
        Segment("bare"),
    ]
    plain, cursor, link, bare = Uncoloured().apply(segments, ground)
    for segment in (plain, cursor, link):
        assert segment.style is not None
        assert segment.style.color is not None
        assert segment.style.color.is_default
        assert segment.style.bgcolor is not None
        assert segment.style.bgcolor.is_default
    assert plain.style is not None
    assert cursor.style is not None
    assert link.style is not None
    assert (plain.style.reverse, cursor.style.reverse) == (False, True)
    assert cursor.style.bold
    assert link.style.meta == {"@click": "x"}
    assert bare == segments[3]


# ------------------------------------------------------------------------- palette and clipboard


async def test_the_palette_finds_what_the_screen_can_do_and_runs_it() -> None:
    ran: list[str] = []

    class Small(App[None]):
        def action_quit(self) -> None:  # type: ignore[override]
            ran.append("quit")

    app = Small()
    async with app.run_test():
        provider = CommandProvider(app.screen)
        names = {str(hit.text) async for hit in provider.discover()}
        assert names == {"Quit"}
        (hit,) = [hit async for hit in provider.search("quit")]
        await hit.command()  # type: ignore[misc]
        assert ran == ["quit"]


@pytest.mark.parametrize(
    ("environ", "tool"),
    [
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "wl-copy"),
        ({"DISPLAY": ":0"}, "xclip"),
        ({}, None),
        ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"}, None),
    ],
)
def test_the_desktops_tool_is_used_where_it_is_the_persons(
    environ: dict[str, str], tool: str | None
) -> None:
    def which(name: str) -> str | None:
        return None if name == "pbcopy" else f"/bin/{name}"

    command = clipboard.desktop_command(environ, which)
    assert (None if command is None else command[0]) == (tool and f"/bin/{tool}")


async def test_copying_says_what_and_takes_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "desktop_command", lambda: None)
    app: App[None] = App()
    async with app.run_test():
        assert clipboard.copy(app, "a\ud800", "message #3") == "Copied message #3 (2 characters)."
        assert app.clipboard == "a\ufffd"
        assert "nothing to copy" in clipboard.copy(app, "", "the summary")
        assert "many terminals take less" in clipboard.copy(app, "x" * 80_000, "it")


def test_a_tool_that_is_not_there_took_nothing() -> None:
    assert not clipboard.hand_over(("/nowhere/xclip",), "text")
