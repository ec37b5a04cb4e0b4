from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import SHARED, compacted, opened, same, saved

from compaction import load
from compaction.errors import SessionError
from compaction.formats import recognise
from compaction.messages import Session
from compaction.messages import message as made_message

HISTORY = b"""
# aider chat started at 2026-01-02 10:00:00

> /usr/bin/aider
> Aider v0.86.1
> Main model: sonnet with diff edit format
> Repo-map: using 1024 tokens

#### an old question

An old answer.

# aider chat started at 2026-01-03 11:00:00

> Model: gpt-5 with diff edit format, weak

#### /add a.py

> Added a.py to the chat.

#### fix it  
####   
#### in `a.py`  

Sure:

a.py
```python
# a comment
x = 1
```

> Tokens: 6.7k sent, 1.1k received.
Cost: $0.04 message, $0.04 session.
> Applied edit to a.py

#### thanks  
> a note at once

You are welcome.

#### /ask why  

Because.

# aider chat started at 2026-01-04 12:00:00

> Model: gpt-5 with diff edit format
"""  # noqa: W291


def turns(session: Session) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in session.messages]


def test_the_last_run_that_says_something_is_live() -> None:
    session = load(HISTORY)
    assert session.format == "aider"
    assert turns(session) == [
        ("user", "fix it\n\nin `a.py`"),
        ("assistant", "Sure:\n\na.py\n```python\n# a comment\nx = 1\n```"),
        ("user", "thanks"),
        ("assistant", "You are welcome."),
        ("user", "/ask why"),
        ("assistant", "Because."),
    ]
    assert (session.title, session.model) == ("run of 2026-01-03 11:00:00", "gpt-5")
    assert [one.model for one in session.messages[:2]] == ["", "gpt-5"]
    assert session.left_out == {"commands of the client": 1}
    assert [(one.id, one.title, one.messages) for one in session.conversations] == [
        ("2026-01-02 10:00:00", "an old question", 2),
        ("2026-01-03 11:00:00", "fix it\n\nin `a.py`", 6),
        ("2026-01-04 12:00:00", "", 0),
    ]
    assert [one.code for one in session.problems] == ["several-conversations"]


def test_another_run_is_chosen_by_its_time_or_number() -> None:
    for name in ("2026-01-02 10:00:00", "1"):
        session = load(HISTORY, conversation=name)
        assert turns(session) == [("user", "an old question"), ("assistant", "An old answer.")]
        assert session.model == "sonnet"


def test_what_was_said_before_the_chat_was_cleared_is_not_live() -> None:
    text = HISTORY.replace(b"#### thanks  \n", b"#### /clear  \n\n#### thanks  \n")
    session = load(text)
    assert session.messages[0].text == "thanks"
    assert session.left_out == {"commands of the client": 2, "before the chat was cleared": 2}
    assert len(load(text, history="full")) == 6


@pytest.mark.parametrize(
    "text",
    [
        b"# aider chat started at noon\n\n#### hi\n",
        b" # aider chat started at 2026-01-02 10:00:00\n\n#### hi\n",
        b'{"a": "x\\n# aider chat started at 2026-01-02 10:00:00"}',
        b"#### hi\n\nhello\n",
    ],
)
def test_look_alikes_are_not_taken(text: bytes) -> None:
    found = recognise(text)
    assert found is None or found.name != "aider"


def test_a_history_in_which_nothing_was_said() -> None:
    with pytest.raises(SessionError, match="nothing was said"):
        load(b"# aider chat started at 2026-01-02 10:00:00\n\n> Aider v1\n")


def test_lines_of_windows_are_read_alike() -> None:
    assert turns(load(HISTORY.replace(b"\n", b"\r\n")))[0] == ("user", "fix it\n\nin `a.py`")


# ------------------------------------------------------------------------------------- writing


def test_what_stays_keeps_its_bytes() -> None:
    session = load(HISTORY)
    assert saved(session) == HISTORY
    messages = compacted(session, keep=2)
    data = saved(session, messages)
    again = load(data)
    assert same(again.messages, messages)
    assert again.messages[0].summary == "compaction"
    before, _, after = HISTORY.partition(b"#### fix it")
    assert data.startswith(before)
    assert data.endswith(after.partition(b"You are welcome.\n")[2])
    # What the program told stays where it stood; the other runs are not touched.
    assert b"> Tokens: 6.7k sent, 1.1k received.\nCost: $0.04 message" in data
    assert same(load(data, conversation="1").messages, load(HISTORY, conversation="1").messages)


@pytest.mark.parametrize(
    "text",
    [
        "one",
        "two\nlines",
        "\nblank\n\nlines\n",
        "ends in blanks   ",
        "> quoted",
        "#### x",
        "a\r\nb",
    ],
)
def test_what_a_user_says_comes_back(text: str) -> None:
    session = load(HISTORY)
    messages = [made_message("user", text), *session.messages[1:]]
    assert same(load(saved(session, messages)).messages, messages)


def test_a_session_from_elsewhere_becomes_a_run() -> None:
    chat = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "> quote\n#### and more"},
        {
            "role": "assistant",
            "content": "# aider chat started at 2026-01-02 10:00:00\n> x\n #### y",
        },
        {"role": "assistant", "content": "```\n#### z\n```"},
    ]
    session = opened({"messages": chat})
    again = load(saved(session, form="aider"))
    assert turns(again) == [(one["role"], one["content"]) for one in chat[1:]]
    assert not again.conversations
    tools = [
        {"role": "user", "content": "list"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "a.py"},
    ]
    written = load(saved(opened({"messages": tools}), form="aider"))
    assert [one.role for one in written.messages] == ["user", "assistant", "user"]
    assert written.messages[1].text == "Called ls:\n```\n{}\n```"


def test_it_becomes_a_chat() -> None:
    chat = json.loads(saved(load(HISTORY), form="openai-chat"))
    assert [one["role"] for one in chat["messages"]] == ["user", "assistant"] * 3


EDITS = (
    b"\n\n@@@ #### Use it @@@@@@@@@@@@@@@@@@@@\n@@@ SEARCH: a.py @@@@@@@@@@@@@@@@@@@@\nx\n"
    b"@@@@@@@@@@@@@@@@@@@@\ny\n@@@ REPLACE @@@@@@@@@@@@@@@@@@@@\n\n\n"
    b"@@@ #### And that @@@@@@@@@@@@@@@@@@@@\nNo edit.\n"
)


def test_a_list_of_edits_is_read() -> None:
    session = load(EDITS)
    assert [(one.role, one.preview[:12]) for one in session.messages] == [
        ("user", "Use it"), ("assistant", "@@@ SEARCH: "), ("user", "And that"),
        ("assistant", "No edit."),
    ]  # fmt: skip
    assert saved(session) == EDITS
    again = load(saved(session, session.messages[:2]))
    assert [(one.role, one.text) for one in again.messages] == [
        (one.role, one.text.strip()) for one in session.messages[:2]
    ]


REAL = SHARED / "aider"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real sessions are not beside this checkout")
def test_real_histories(tmp_path: Path) -> None:
    path = REAL / "aider--chat-history-4.15MB.md"
    session = load(path)
    assert len(session.conversations) == 1134
    assert len(session) == session.conversations[-1].messages == 4
    assert session.model == "claude-3-5-sonnet-20240620"
    busy = max(range(1134), key=lambda at: session.conversations[at].messages)
    for number in (1, 4, busy + 1, 1134):
        one = load(path, conversation=str(number), history="full")
        assert len(one) == session.conversations[number - 1].messages
        assert saved(one) == path.read_bytes()
        data = saved(one, one.messages[1:])
        back = load(data, conversation=str(number), history="full")
        assert same(back.messages, one.messages[1:])
    edits = load(REAL / "aider--search-replace-gold-988KB.txt")
    assert [one.role for one in edits.messages].count("user") == 401
    assert len(edits) == 802
