"""How a tool call ended, read from its result: exit state, test counts, commits, the error."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from compaction.messages import Media, Opaque, ToolResult


class Outcome(NamedTuple):
    """The end of one call.

    `ok` is None when the result does not say. `exit` is the exit status, None when unknown.
    `tests` and `commit` are copied from the output; `error` is its telling error line.
    `declined`: a person did not allow the call. `text` is the output.
    """

    ok: bool | None
    exit: int | None = None
    tests: str = ""
    commit: str = ""
    error: str = ""
    declined: bool = False
    text: str = ""


_HEAD = 800
_TAIL = 6000

_EXIT = re.compile(
    r"(?:exit(?:ed)?(?:[ _-](?:with|code|status))*(?:[ _]code)?|returncode|return code"
    r"|exit_code|exitCode"
    r"|non-zero exit status)\"?>?[ \t]{0,3}[:=]?[ \t]{0,3}(-?\d{1,10})(?!\d)",
    re.IGNORECASE,
)
_ERROR_START = re.compile(
    r"\s*(?:<tool_use_error>|Error\b[:\s]|ERROR\b|error:|Exit code [1-9]|fatal:|Failed\b"
    r"|Traceback \(most|Exception\b)",
)
_DECLINED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|\[Request interrupted by user for"
    r" tool use\]"
    r"|tool use was rejected|exec command rejected by user|rejected by (?:the )?user|User rejected"
)
_SAID = re.compile(
    r"(?:the user said|provided the following (?:reason|feedback)[^:\n]{0,80}|reason for the"
    r" rejection)[:\s]\s*(.{1,2000})",
    re.DOTALL,
)

_TESTS = re.compile(
    r"(?P<pytest>\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected)"
    r"(?:, \d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)){0,7}(?:"
    r" in [\d.]{1,12}s)?)"
    r"|(?P<jest>Tests:? {1,10}(?:\d+ (?:failed|passed|skipped|todo|total)[,|"
    r" ]{0,3}){1,6}(?:\(\d+\))?)"
    r"|(?P<cargo>test result: (?:ok|FAILED)\. \d+ passed; \d+ failed)"
    r"|(?P<unittest>Ran \d+ tests? in [\d.]{1,12}s)"
    r"|(?P<maven>Tests run: \d+, Failures: \d+, Errors: \d+)"
    r"|(?P<rspec>\d+ examples?, \d+ failures?)"
    r"|(?P<mocha>\d+ passing(?: \([\d.]{1,12}m?s\))?)"
    r"|(?P<dotnet>Failed: {1,6}\d+, Passed: {1,6}\d+)"
)
_TEST_WORDS = re.compile(r"passed|failed|Tests|test result|Ran |passing|examples?|FAIL|ok\s")
_TEST_BAD = re.compile(
    r"(?<![\d.])[1-9]\d* (?:failed|errors?|failures?|failing)|FAILED|Failures: [1-9]|Errors:"
    r" [1-9]|Failed: {1,6}[1-9]"
)
_GO_BAD = re.compile(r"^(?:--- FAIL: \S{1,200}|FAIL[ \t][^\n]{1,200})", re.MULTILINE)
_GO_OK = re.compile(r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))", re.MULTILINE)
_COMMIT = re.compile(
    r"^\[([\w./-]{1,100})(?: \(root-commit\))? ([0-9a-f]{7,40})\] ([^\n]{1,200})", re.MULTILINE
)

_ERROR_LINES = (
    re.compile(r"^E {1,8}(?!assert\b|\+|-)(\S[^\n]{3,300})", re.MULTILINE),
    re.compile(
        r"^(?:[\w.]{0,80}\.)?([A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt|Failure)(?::"
        r" [^\n]{1,300})?)$",
        re.MULTILINE,
    ),
    re.compile(
        r"^\s{0,8}((?:error(?:\[\w{1,10}\])?|fatal|panic|npm ERR!|ERROR|Error)(?:: |"
        r" )[^\n]{3,300})",
        re.MULTILINE,
    ),
    re.compile(r"^([^\n]{0,160}(?:error|Error): [^\n]{3,200})", re.MULTILINE),
    re.compile(
        r"^([^\n]{1,160}: (?:No such file or directory|command not found|Permission denied|not"
        r" found)[^\n]{0,80})",
        re.MULTILINE,
    ),
    re.compile(r"^((?:--- FAIL: |FAIL[: \t]|FAILED )[^\n]{3,200})", re.MULTILINE),
    re.compile(
        r"^([^\n]{0,120}\b(?:undefined|cannot find|could not|unable to|not found"
        r"|failed)\b[^\n]{0,160})",
        re.MULTILINE | re.IGNORECASE,
    ),
)
_TELLING = re.compile(r"[^\W\d_]{3}")
_PREAMBLE = re.compile(
    r"\s*(?:exit code|wall time|output:|chunk id|process exited|original token|total output"
    r" lines|command: )",
    re.I,
)
_FRAMES = re.compile(r"</?(?:tool_use_error|error|output|stdout|stderr|returncode)>")


def outcome_of(result: ToolResult, *, command: bool) -> Outcome:
    """How the call that `result` answers ended. `command` says it was a shell command."""
    text = (
        "\n".join(part.text for part in result.content if not isinstance(part, Media | Opaque))
        or result.text
    )
    text, status = _unpacked(text)
    if _DECLINED.search(text[:_HEAD]):
        said = _SAID.search(text[:4000])
        return Outcome(False, declined=True, error=said[1].strip() if said else "", text=text)
    head, tail = text[:_HEAD], text[-_TAIL:]
    if status is None and (command or "exit" in head.lower()):
        found = _EXIT.search(head) or _EXIT.search(text[-_HEAD:])
        status = int(found[1]) if found else None
    tests = _tests(tail) if command else ""
    commit = _commit(text[:20_000]) if command and "] " in text else ""
    ok = _judged(result, status, tests, head, tail if command else "")
    error = _error_line(text) if ok is False else ""
    return Outcome(ok, status, tests, commit, error, text=text)


def _unpacked(text: str) -> tuple[str, int | None]:
    """The output and exit status of a result that is a JSON object of them."""
    if not text.startswith("{") or '"output"' not in text[:4000] or len(text) > 8_000_000:
        return text, None
    try:
        value = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return text, None
    output = value.get("output") if isinstance(value, dict) else None
    if not isinstance(output, str):
        return text, None
    metadata = value.get("metadata")
    status = metadata.get("exit_code") if isinstance(metadata, dict) else value.get("exit_code")
    return output, status if isinstance(status, int) else None


def _judged(
    result: ToolResult, status: int | None, tests: str, head: str, output: str
) -> bool | None:
    if result.is_error:
        return False
    if status is not None:
        # A pipe hides the exit status of a test run; its own counts do not lie.
        return status == 0 and not (tests and _TEST_BAD.search(tests))
    if tests:
        return not _TEST_BAD.search(tests)
    if output and _GO_BAD.search(output):
        return False
    if _ERROR_START.match(head):
        return False
    return None


def _tests(text: str) -> str:
    if not _TEST_WORDS.search(text):
        return ""
    found = list(_TESTS.finditer(text))
    if not found:
        bad = _GO_BAD.search(text)
        if bad and "FAIL" in bad[0]:
            return bad[0].strip()
        good = _GO_OK.findall(text)
        return str(good[-1]).strip() if good else ""
    last = found[-1]
    if last.lastgroup == "unittest":
        verdict = re.search(r"^(?:OK|FAILED)[^\n]{0,60}", text[last.end() :], re.MULTILINE)
        return f"{last[0]} {verdict[0]}" if verdict else last[0]
    if last.lastgroup == "mocha":
        failing = re.search(r"\d+ failing", text[last.end() :])
        return f"{last[0]}, {failing[0]}" if failing else last[0]
    return last[0].strip(" ,|")


def _commit(text: str) -> str:
    found = _COMMIT.search(text)
    return f"[{found[1]} {found[2]}] {found[3].strip()}" if found else ""


def _error_line(text: str) -> str:
    text = _FRAMES.sub("", text)
    window = text if len(text) <= 8000 else f"{text[:2000]}\n{text[-6000:]}"
    for place, pattern in enumerate(_ERROR_LINES):
        lines = [line for line in pattern.findall(window) if _TELLING.search(line)]
        if lines:
            # The last exception of a traceback is the one that came through.
            return str(lines[-1] if place < 2 else lines[0]).strip()
    for line in window.splitlines():
        if _TELLING.search(line) and not _PREAMBLE.match(line):
            return line.strip()[:300]
    return ""
