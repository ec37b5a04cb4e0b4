"""Summarizers outside this program: functions, commands, and what they may answer."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compaction.errors import Cancelled, SummarizerError
from compaction.messages import Text, ToolCall, ToolResult, message
from compaction.summary import Command, Digest, FromCallable, Placeholder, summarizer_named
from compaction.summary.protocol import SummaryRequest, usable

Make = Callable[..., SummaryRequest]

MESSAGES = [
    message("user", "Reset gate 2.", record={"role": "user", "content": "Reset gate 2.", "x": 1}),
    message("assistant", [ToolCall("c1", "reset", '{"gate": 2}')]),
    message("tool", [ToolResult("c1", (Text("done"),))]),
]


def python(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def test_a_function_gets_the_very_dicts_that_were_read(request_for: Make) -> None:
    seen: list[list[dict[str, object]]] = []

    def summarize(messages: list[dict[str, object]]) -> str:
        seen.append(messages)
        return "gate 2 was reset"

    assert FromCallable(summarize).summarize(request_for(MESSAGES)) == "gate 2 was reset"
    assert seen[0][0] is MESSAGES[0].record
    assert seen[0][1:] == [
        {"role": "assistant", "content": 'reset {"gate": 2}'},
        {"role": "tool", "content": "done"},
    ]


def test_a_function_that_raises_is_reported(request_for: Make) -> None:
    def summarize(messages: list[dict[str, object]]) -> str:
        raise KeyError("gate")

    with pytest.raises(SummarizerError, match=r"python:summarize failed with KeyError: 'gate'"):
        FromCallable(summarize).summarize(request_for(MESSAGES))


def test_the_placeholder_says_how_many(request_for: Make) -> None:
    assert Placeholder().summarize(request_for(MESSAGES)) == (
        "[3 earlier messages omitted, not summarized]"
    )


def test_names() -> None:
    assert isinstance(summarizer_named("digest"), Digest)
    assert isinstance(summarizer_named("none"), Placeholder)
    assert summarizer_named("command:llm -s x").name == "command:llm -s x"
    assert summarizer_named("python:json:dumps").name == "python:json:dumps"
    assert summarizer_named("python:os:path.basename").name == "python:os:path.basename"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("digset", "digest, none, command"),
        ("command:", "needs a shell line"),
        ("python:nothing_here:f", "cannot be imported"),
        ("python:json", "python:module:function"),
        ("python:json:nothing", "has no function 'nothing'"),
        ("python:json:__name__", "has no function '__name__'"),
    ],
)
def test_wrong_names_say_what_is_right(spec: str, says: str) -> None:
    with pytest.raises(SummarizerError, match=says):
        summarizer_named(spec)


def test_a_command_reads_the_transcript_and_prints_the_summary(request_for: Make) -> None:
    line = python(
        "import sys,os; t=sys.stdin.read();"
        "print(os.environ['COMPACTION_MAX_TOKENS'], t.upper(), end='')"
    )
    assert Command(line).summarize(request_for(MESSAGES, 77)) == (
        '77 [1] USER\nRESET GATE 2.\n\n[2] ASSISTANT\n(CALLS RESET) {"GATE": 2}\n\n'
        "[3] TOOL\n(RESULT) DONE\n\n"
    )


def test_a_command_that_reads_nothing_of_a_huge_transcript(request_for: Make) -> None:
    huge = [message("user", "x" * 5_000_000)]
    assert Command(python("print('short', end='')")).summarize(request_for(huge)) == "short"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "import sys; sys.stderr.write('upstream 529 overloaded\\n'); sys.exit(3)",
            r"exited with 3.*upstream 529 overloaded",
        ),
        ("import sys; sys.stdout.buffer.write(b'ok\\xff\\xfe')", r"not UTF-8 text, at byte 2"),
        ("import os; os.kill(os.getpid(), 9)", r"signal 9"),
        ("print('x' * 6_000_000)", r"more than 4,194,304 bytes"),
    ],
)
def test_a_command_that_fails_says_how(request_for: Make, code: str, says: str) -> None:
    with pytest.raises(SummarizerError, match=f"(?s){says}"):
        Command(f"exec {python(code)}").summarize(request_for(MESSAGES))


def test_a_command_that_does_not_exist(request_for: Make) -> None:
    with pytest.raises(SummarizerError, match="exited with 127"):
        Command("no-such-summarizer-here").summarize(request_for(MESSAGES))


@pytest.mark.skipif(os.name != "posix", reason="process groups are a matter of POSIX")
def test_a_command_out_of_time_is_stopped_with_its_children(
    request_for: Make, tmp_path: Path
) -> None:
    mark = tmp_path / "child"
    child = f"import os,time; open({str(mark)!r},'w').write(str(os.getpid())); time.sleep(600)"
    line = f"{python(child)} & {python('import time; time.sleep(600)')}"
    with pytest.raises(SummarizerError, match="did not finish within 3 s"):
        Command(line, timeout=3.0).summarize(request_for(MESSAGES))
    # A killed process that is nobody's child goes when its new parent takes notice.
    process = int(mark.read_text())
    deadline = time.monotonic() + 30
    while _runs(process):
        assert time.monotonic() < deadline, f"process {process} still runs"
        os.sched_yield()


def _runs(process: int) -> bool:
    """Whether a process is there and does not only wait to be collected."""
    try:
        os.kill(process, 0)
        stat = Path(f"/proc/{process}/stat")
        return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_command_can_be_cancelled(request_for: Make) -> None:
    request = request_for(MESSAGES)
    stopped = SummaryRequest(request.messages, 10, request.counter, cancelled=lambda: True)
    with pytest.raises(Cancelled):
        Command(python("import time; time.sleep(600)")).summarize(stopped)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("\n  \n", "returned nothing"),
        ("", "returned nothing"),
        ("<summary></summary>", "only scratch work or tags"),
        ("<think>plan", "only scratch work or tags"),
        ("I am sorry, but I am not able to help with this request.", "refused"),
        ("I'm sorry, I can't assist with that.", "refused"),
        ("I cannot help with this.", "refused"),
        ('[{"type":"tool_use","id":"toolu_1","name":"summary","input":{"text":"x"}}]', "tool call"),
        ('<think>plan</think>\n{"name":"search","arguments":{}}', "tool call"),
        ("\x00\x01", "binary"),
        (None, "NoneType"),
        (7, "int"),
    ],
)
def test_what_is_no_summary_is_refused(reply: object, says: str) -> None:
    with pytest.raises(SummarizerError, match=says):
        usable(reply, "The summarizer x")


@pytest.mark.parametrize(
    "reply",
    [
        "Gate 2 was reset.",
        "I reset gate 2 and could not open dock B.",
        "The user was sorry that the assistant cannot help with docks; gate 2 was reset. " * 20,
        '{"summary": "gate 2"}',
        "[1] first",
    ],
)
def test_summaries_are_taken_as_they_are(reply: str) -> None:
    assert usable(reply, "x") == usable(reply, "x")
    assert usable(reply, "x").text == reply
