from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import compacted, opened, same, saved
from hypothesis import given
from hypothesis import strategies as st

from compaction import load
from compaction.errors import SessionError
from compaction.formats import recognise
from compaction.formats.markdown import Markdown
from compaction.messages import Session, Text, Thinking, ToolCall, ToolResult
from compaction.messages import message as made_message

MARKDOWN = Markdown()

BOLD = b"""# Fixing a bug

Saved from a page.

**User:** What is
this?

**Assistant:**

A file:

```md
**User:** no mark
## User
```

**You:** More
---

**AI:** Done.
"""


def turns(session: Session) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in session.messages]


def test_marks_in_bold_begin_messages() -> None:
    session = load(BOLD)
    assert session.format == "markdown"
    assert session.title == "Fixing a bug"
    assert turns(session) == [
        ("user", "What is\nthis?"),
        ("assistant", "A file:\n\n```md\n**User:** no mark\n## User\n```"),
        ("user", "More"),
        ("assistant", "Done."),
    ]
    assert [one.spans[0].line for one in session.messages] == [5, 8, 17, 20]
    assert not session.problems


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("## Prompt\nhi\n\n## Response:\nhello\n", ["user", "assistant"]),
        ("### User\r\n\r\nhi\r\n\r\n### Assistant\r\n\r\nhello\r\n", ["user", "assistant"]),
        ("You said:\nhi\nChatGPT said:\nhello\n", ["user", "assistant"]),
        ("##### You said:\nhi\n\n###### ChatGPT said:\nhello", ["user", "assistant"]),
        ("**Human**: hi\n\n**Claude**: hello", ["user", "assistant"]),
        ("**User**\n\nhi\n\n**Assistant (gpt-4)**\n\nhello", ["user", "assistant"]),
        ("**System:** be\n\n**User:** hi\n\n**ChatGPT:** hello", ["system", "user", "assistant"]),
        ("\ufeff**User:** hi\n\n**Assistant:** hello", ["user", "assistant"]),
        ("## User\nhi\n## Assistant\nhello\n**User:** in it", ["user", "assistant"]),
        ("role: x\n## User\nmessages:\n- role: user\n## Assistant\nno", ["user", "assistant"]),
        ('## User\n{"role": "user", "content": "x"}\n## Assistant\nno', ["user", "assistant"]),
        ("**User:** a\n\n```py\nx = 1\n\n**Assistant:** hello", ["user", "assistant"]),
    ],
)
def test_other_marks(text: str, roles: list[str]) -> None:
    session = load(text.encode())
    assert session.format == "markdown"
    assert [one.role for one in session.messages] == roles
    assert all(one.text == one.text.strip() != "" for one in session.messages)


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nProse about a User: and an Assistant:.",
        "**Assistant:** hello\n\n**User** of it",
        "## User\n\nOne chapter.\n\n## Usage\n\nAnother.",
        "```\n**User:** hi\n\n**Assistant:** hello\n```",
        " **User:** hi\n\n **Assistant:** hello",
        "> **User:** hi\n> **Assistant:** hello",
        "messages:\n- role: user\n  content: |\n    ## User\n    ## Assistant\n",
        '{"messages": [{"role": "user", "content": "x"}]}',
        "**User:** one\n\n**User:** two",
    ],
)
def test_look_alikes_are_not_taken(text: str) -> None:
    found = recognise(text.encode())
    assert found is None or found.name != "markdown"


def test_prose_that_speaks_of_messages_is_no_chat() -> None:
    assert recognise(b'# Notes\n\nA request has "messages", each with a "role".\n') is None


def test_what_nothing_was_said_under_is_left_out_and_stays() -> None:
    text = b"## User\n\nhi\n\n## Assistant\n\n## User\n\nmore\n\n## Assistant\n\nyes\n"
    session = load(text)
    assert session.left_out == {"empty messages": 1}
    assert len(session) == 3
    assert b"## Assistant\n\n## User" in saved(session, session.messages[1:])


def test_without_marks_there_is_nothing() -> None:
    with pytest.raises(SessionError, match="no marks of roles"):
        load(b"Dear diary", format="markdown")


# ------------------------------------------------------------------------------------- writing


def test_what_stays_keeps_its_bytes() -> None:
    session = load(BOLD)
    assert saved(session) == BOLD
    assert saved(session, session.messages[2:]) == (
        b"# Fixing a bug\n\nSaved from a page.\n\n**You:** More\n---\n\n**AI:** Done.\n"
    )
    messages = compacted(session, keep=2)
    data = saved(session, messages)
    assert data.endswith(b"\n\n**You:** More\n---\n\n**AI:** Done.\n")
    assert data.startswith(b"# Fixing a bug\n\nSaved from a page.\n\n**You:**\n\n")
    again = load(data)
    assert same(again.messages, messages)
    assert again.messages[0].summary == "compaction"


def test_content_can_not_be_taken_for_what_is_around_it() -> None:
    fences = "````md\n```\ninner\n```\n````\n~~~\nt\n~~~"
    texts = [
        "Show me:\n```python\nprint('x')\n```\n# heading\n---\n<b>html</b>",
        fences,
        "## User\n**Assistant:** x\n\\## User\nYou said:\n`## User`",
        "```\nopen",
        " blanks \n",
        "a\r\nb",
        "ends\n---",
        "```message\nnot so\n```",
        "```tool-call {}\n````",
        "```\n## Assistant\n```",
    ]
    chat = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": text}
        for n, text in enumerate(texts)
    ]
    session = opened({"messages": chat})
    data = saved(session, form="markdown")
    assert same(load(data).messages, session.messages)
    # A person sees the headings of the messages, and no others.
    assert data.count(b"\n## User\n") + data.count(b"\n## Assistant\n") == len(texts) + 1
    assert b"\n\\## User\n\\**Assistant:** x\n\\\\## User\n\\You said:\n`## User`" in data
    assert fences.encode() in data


_TEXTS = st.text(
    st.sampled_from("ab \n\\`~#*:-\r_{}") | st.characters(exclude_characters="\0"), min_size=1
) | st.lists(
    st.sampled_from(
        ["## User", "**Assistant:** x", "```", "````x", "~~~", "\\## Tool", "```message", "", "a"]
    ),
    min_size=1,
).map("\n".join).filter(bool)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), _TEXTS), min_size=1))
def test_any_text_comes_back(said: list[tuple[str, str]]) -> None:
    messages = [made_message(role, text.encode("utf-8", "replace").decode()) for role, text in said]
    session = opened({"messages": [{"role": "user", "content": "x"}]})
    again = load(saved(session, messages, "markdown"))
    assert turns(again) == [(one.role, one.text) for one in messages]


def test_calls_results_and_reasoning_come_back() -> None:
    parts = [
        made_message("assistant", [Thinking("Hm `x`."), Text("One"), Text("two")]),
        made_message(
            "assistant", [ToolCall("c`1", "ls ü", '{"a": "```"}'), ToolCall("c2", "x", "")]
        ),
        made_message("tool", [ToolResult("c`1", (Text("## User\n````"),), True, "ls ü")]),
        made_message("tool", [ToolResult("c2", ())]),
    ]
    session = opened({"messages": [{"role": "user", "content": "x"}]})
    again = load(saved(session, parts, "markdown"))
    assert same(again.messages, parts)


def test_a_result_without_its_call_is_text() -> None:
    session = load(b"## User\n\nls\n\n## Assistant\n\nRunning.\n\n## Tool\n\na.py\n")
    assert [(one.role, one.injected) for one in session.messages][-1] == ("user", True)


def test_it_becomes_a_chat() -> None:
    chat = json.loads(saved(load(BOLD), form="openai-chat"))["messages"]
    assert [one["role"] for one in chat] == ["user", "assistant", "user", "assistant"]
    assert chat[3]["content"] == "Done."


def test_many_open_fences_are_read_quickly() -> None:
    text = b"## User\n\n" + b"```x\n````y\n" * 20_000 + b"## Assistant\n\nok\n"
    session = load(text)
    assert [one.role for one in session.messages] == ["user", "assistant"]


def test_the_case_of_fences_inside_of_fences(shared: Path) -> None:
    path = shared / "cases" / "EXP-04.json"
    if not path.is_file():
        pytest.skip("the cases are not beside this checkout")
    session = load(path)
    assert same(load(saved(session, form="markdown")).messages, session.messages)
