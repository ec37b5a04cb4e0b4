"""What the README says is so: its commands exist, its options too, and its code runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

import compaction
import sample_sessions
from tui.cli import program

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def command_lines() -> list[list[str]]:
    """Every line of a shell block that starts the program, as words."""
    lines = (line for block in blocks("sh") for line in block.splitlines())
    return [
        shlex.split(line, comments=True) for line in lines if line.startswith("compaction ")
    ]


def options_of(command: click.Command) -> set[str]:
    return {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }


@pytest.mark.parametrize("code", blocks("python"), ids=["load", "memory", "recipe", "format"])
def test_the_code_runs(code: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_every_command_line_names_a_command_and_its_options() -> None:
    lines = command_lines()
    assert len(lines) >= 6
    for words in lines:
        command = program.commands[words[1]]
        given = {word for word in words if word.startswith("-") and word != "-"}
        assert given <= options_of(command), words


def test_every_command_is_mentioned() -> None:
    for name, command in program.commands.items():
        if not command.hidden:
            assert f"compaction {name}" in README, name


def test_every_option_of_the_table_exists_and_every_shared_one_is_told() -> None:
    known = set().union(*(options_of(command) for command in program.commands.values()))
    told = set(re.findall(r"^\| `(--[a-z-]+)", README, re.MULTILINE))
    assert told <= known
    assert options_of(program.commands["plan"]) - told <= {"--json", "--brief", "--conversation"}


def test_policies_and_samples_exist() -> None:
    table = README.split("## Policies")[1].split("## Formats")[0]
    told = set(re.findall(r"`([a-z0-9-]+)`", table))
    assert set(compaction.presets()) - told == set(), "a policy the README does not name"
    rows = set(re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE))
    assert rows <= set(compaction.presets())
    for name in re.findall(r'sample_sessions\.path\("([^"]+)"\)', README):
        assert sample_sessions.path(name).exists()


def test_the_files_it_names_exist() -> None:
    for name in re.findall(r"`((?:compaction|tests|\.ci)/[\w/.]+)`", README):
        assert (ROOT / name).exists(), name


def test_the_checks_run_the_test_command_of_the_readme() -> None:
    setup, run = blocks("sh")[:2]
    assert "compaction demo" in setup
    test_command = run.strip().rsplit("&& .venv/bin/", 1)[1]
    assert test_command in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_picture_is_a_picture_of_the_demo() -> None:
    (name,) = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    root = ElementTree.parse(ROOT / name).getroot()
    assert root.tag.endswith("svg")
    text = "".join(root.itertext())
    assert "login-refactor" in text
    assert "budget" in text
