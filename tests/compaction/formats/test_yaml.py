from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from chat_documents import read, written
from hypothesis import given
from hypothesis import strategies as st

import compaction
from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats.base import Sample
from compaction.formats.yaml_chat import YamlChat, dialect_of
from compaction.messages import Text, ToolCall, message

YAML = YamlChat()
SUMMARY = message("user", "What was said:\n- no\n- 1e5")

HAND = """\
# a session é😀
model: gpt-4.1
messages:
  - role: system   # the rules
    content: Depot é😀.
  - {role: user, content: no}
  - role: assistant
    content: null
    tool_calls:
    - id: c1
      function: {name: weigh, arguments: '{"p": 1.10}'}
  - role: tool
    tool_call_id: c1
    content: |+
      1 kg

  # about this
  - role: user
    content: 12:30:45
    odd: [1.10, 0x1F, 2024-01-01]
  - role: assistant
    content: >-
      folded
      text
temperature: 1.10
"""


def test_scalars_are_what_they_look_like() -> None:
    session = read(YAML, HAND)
    assert [m.role for m in session.messages] == [
        "system", "user", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip
    assert session.messages[1].parts == (Text("no"),)
    assert session.messages[2].parts == (ToolCall("c1", "weigh", '{"p": 1.10}'),)
    assert session.messages[4].parts == (Text("12:30:45"),)
    assert session.messages[5].parts == (Text("folded text"),)
    record = session.messages[4].record
    assert isinstance(record, dict)
    assert json.dumps(record["odd"][1:]) == '[31, "2024-01-01"]'
    assert repr(record["odd"][0]) == "1.10"
    assert [m.spans[0].line for m in session.messages] == [4, 6, 7, 12, 18, 21]


def test_kept_messages_keep_their_text_and_so_does_all_around() -> None:
    session = read(YAML, HAND)
    assert written(YAML, session.messages, session) == HAND.encode()
    new = [session.messages[0], SUMMARY, *session.messages[4:]]
    out = written(YAML, new, session).decode()
    first, last = HAND.index("  - {role: user"), HAND.index("  - role: user\n    content: 12")
    assert out.startswith(HAND[:first])
    assert out.endswith(HAND[last:])
    again = read(YAML, out)
    assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))


@pytest.mark.parametrize(
    ("text", "dialect", "roles"),
    [
        ("- role: user\n  content: a\n- role: assistant\n  content: b", "openai-chat", "ua"),
        ("messages: [{role: user, content: a}, {role: ai, content: b}]\n", "openai-chat", "ua"),
        ("history:\n- {role: user, content: a}\n", "openai-chat", "u"),
        ("system: Brief.\nmessages:\n- {role: user, content: a}\n", "anthropic", "su"),
        ("model: g\ninput:\n- {role: user, content: a}\n", "openai-responses", "u"),
    ],
)
def test_every_dialect_in_yaml(text: str, dialect: str, roles: str) -> None:
    session = read(YAML, text)
    assert dialect_of(session) == dialect
    assert "".join(m.role[0] for m in session.messages) == roles
    assert session.format == "yaml"
    new = [*session.messages[:1], SUMMARY]
    again = read(YAML, written(YAML, new, session))
    assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))
    assert YAML.recognise(Sample(b"", whole=yaml.safe_load(text), yaml=True))


def test_an_anchor_that_goes_is_spelled_out() -> None:
    text = "- &a {role: user, content: a}\n- {role: assistant, content: b}\n- *a\n"
    session = read(YAML, text)
    result = YAML.write([SUMMARY, session.messages[2]], session)
    again = read(YAML, b"".join(result.chunks))
    assert [m.parts for m in again.messages] == [SUMMARY.parts, (Text("a"),)]


def test_a_recorded_exchange() -> None:
    body = {"model": "c", "max_tokens": 5, "messages": [{"role": "user", "content": "a"}]}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "b"}]}
    exchange = {"request": {"parsed_body": body}, "response": {"parsed_body": answer}}
    text = yaml.safe_dump({"interactions": [exchange], "version": 1})
    session = read(YAML, text)
    assert dialect_of(session) == "anthropic"
    assert [(m.role, m.preview) for m in session.messages] == [("user", "a"), ("assistant", "b")]
    assert written(YAML, session.messages, session) == text.encode()


# What writes the file here makes a plain line feed of the other line breaks of Unicode.
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), min_size=1, max_size=20
).filter(lambda text: text.isprintable() or "\n" in text)


@given(st.lists(TEXTS, min_size=2, max_size=5), st.data())
def test_random_texts_survive_whatever_is_dropped(texts: list[str], data: st.DataObject) -> None:
    records = [{"role": "user", "content": text} for text in texts]
    whole = yaml.safe_dump({"a": 1, "messages": records, "z": 2}, allow_unicode=True)
    session = read(YAML, whole)
    assert [m.record for m in session.messages] == records or not all(map(_plain, texts))
    kept = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1))))
    new = [SUMMARY, *(session.messages[i] for i in kept)]
    again = read(YAML, written(YAML, new, session))
    assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))


def _plain(text: str) -> bool:
    # What YAML 1.1 writes without quotes and YAML 1.2 reads as a number.
    return not text[:1].isdigit() and text[:1] not in "+-."


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("messages:\n- role: user\n   content: x\n", "line 3"),
        ("messages: [", "line 2"),
        ("messages: &m [{role: user, content: *m}]", "alias of itself"),
        ("messages: " + "[" * 100_000, "nest"),
        ("a: 1\n", "no chat messages"),
        ("just text\n", "no chat messages"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{n}: &{n} [{','.join(['*' + p] * 10)}]\n"
                for p, n in zip("abcdefgh", "bcdefghi", strict=True)
            )
            + "messages: [{role: user, content: *i}]\n",
            "aliases stand for",
        ),
    ],
)
def test_what_cannot_be_used_is_one_sentence(text: str, what: str) -> None:
    with pytest.raises(SessionError, match=what) as caught:
        read(YAML, text)
    assert "\n" not in str(caught.value)


def test_other_files_are_not_recognised() -> None:
    assert not YAML.recognise(Sample(b"", whole={"messages": [{"role": "user"}]}))
    assert not YAML.recognise(Sample(b"", whole={"a": 1}, yaml=True))


def test_real_files(shared_sessions: Path) -> None:
    for path in sorted((shared_sessions / "yaml-transcripts").iterdir()):
        session = read(YAML, path.read_bytes())
        assert written(YAML, session.messages, session) == path.read_bytes()
        new = [session.messages[0], SUMMARY, *session.messages[-1:]]
        again = read(YAML, written(YAML, new, session))
        assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))


def test_half_a_character_is_told_and_the_file_loads_again() -> None:
    session = compaction.load(b'[{"role": "user", "content": "cut \\ud83d here"}]')
    data, findings = render_bytes(session, "yaml")
    assert [(one.code, one.message) for one in findings if one.level != "info"] == [
        ("export-surrogate", 0)
    ]
    assert compaction.load(data).messages[0].text == "cut \N{REPLACEMENT CHARACTER} here"


def test_broken_yaml_is_named_with_its_line() -> None:
    with pytest.raises(SessionError, match=r"no YAML: line 3: "):
        compaction.load(b"- role: user\n  content: [unclosed\n- role: assistant\n")
