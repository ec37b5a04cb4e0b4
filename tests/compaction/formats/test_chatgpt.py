from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction import load
from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import recognise
from compaction.messages import (
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)


def said(name: str, role: str, content: Any = "", **more: Any) -> dict[str, Any]:
    """A message; a text stands for its content."""
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content or f"said {name}"]}
    return {
        "id": name,
        "author": {"role": role, "name": more.pop("author", None), "metadata": {}},
        "create_time": 1767323045.5,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": more.pop("metadata", {}),
        "recipient": "all",
        **more,
    }


def tree(*nodes: tuple[str, str | None, dict[str, Any] | None], **more: Any) -> dict[str, Any]:
    """A conversation of nodes (id, parent, message); the last one was seen last."""
    return {
        "title": "Boxes",
        "create_time": 1767323000.0,
        "mapping": {
            name: {
                "id": name,
                "message": held,
                "parent": parent,
                "children": [other for other, above, _ in nodes if above == name],
            }
            for name, parent, held in nodes
        },
        "current_node": nodes[-1][0],
        "conversation_id": "c-1",
        "id": "c-1",
        **more,
    }


def chain(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    names = [held["id"] if held else "root" for held in messages]
    return tree(*zip(names, (None, *names), messages, strict=False), **more)


CODE = {"content_type": "code", "language": "python", "text": "print(12)"}
OUTPUT = {"content_type": "execution_output", "text": "12"}
THOUGHTS = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}
CONTEXT = {
    "content_type": "user_editable_context",
    "user_profile": "I pack boxes.",
    "user_instructions": "Be brief.",
}

CONVERSATION = tree(
    ("root", None, None),
    ("sys", "root", said("sys", "system", weight=0)),
    ("ctx", "sys", said("ctx", "user", CONTEXT)),
    ("u1", "ctx", said("u1", "user", "How heavy?")),
    ("a0", "u1", said("a0", "assistant", "First answer.")),
    ("th", "u1", said("th", "assistant", THOUGHTS)),
    (
        "a1",
        "th",
        said("a1", "assistant", CODE, recipient="python", metadata={"model_slug": "gpt-5"}),
    ),
    ("t1", "a1", said("t1", "tool", OUTPUT, author="python")),
    ("a2", "t1", said("a2", "assistant", "12 kg.", metadata={"model_slug": "gpt-5"})),
    ("u2", "a2", said("u2", "user", "And now?")),
    ("a3", "u2", said("a3", "assistant", "13 kg.")),
)


def name_of(document: object) -> str:
    found = recognise(json.dumps(document).encode())
    return found.name if found else ""


# ---------------------------------------------------------------------------------- reading


def test_the_branch_last_seen_is_read() -> None:
    session = opened([CONVERSATION])
    assert session.format == "chatgpt"
    assert [m.id for m in session.messages] == ["ctx", "u1", "a1", "t1", "a2", "u2", "a3"]
    assert session.left_out == {
        "messages of weight 0": 1,
        "other branches": 1,
        "reasoning that is not sent again": 1,
    }
    assert (session.title, session.model) == ("Boxes", "gpt-5")
    assert session.messages[0].parts == (Text("I pack boxes.\nBe brief."),)
    assert session.messages[0].injected
    assert session.messages[1].typed
    assert session.messages[1].time == "2026-01-02T03:04:05.500000+00:00"
    assert not session.conversations


def test_a_message_to_a_tool_is_a_call_and_the_tool_answers_it() -> None:
    messages = opened(CONVERSATION).messages
    assert messages[2].parts == (ToolCall("a1", "python", "print(12)"),)
    assert messages[3].parts == (ToolResult("a1", (Text("12"),), name="python"),)
    assert (messages[3].role, messages[3].tool) == ("tool", "python")


def test_answers_that_no_call_is_open_for_are_what_they_say() -> None:
    session = opened(
        chain(
            said("u1", "user"),
            said("f1", "tool", "the file says", author="file_search"),
            said("a1", "assistant", "search()", recipient="browser.search"),
            said("b1", "assistant", "open()", recipient="browser.open"),
            said("t1", "tool", "found", author="browser"),
            said("t2", "tool", "opened", author="browser.open"),
            said("t3", "tool", "more", author="browser"),
        )
    )
    assert session.messages[1].role == "tool"
    assert session.messages[1].parts == (Text("the file says"),)
    assert [m.results for m in session.messages[4:]] == [("a1",), ("b1",), ()]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ({"content_type": "text", "parts": ["a", "", "b"]}, (Text("a"), Text("b"))),
        (
            {
                "content_type": "multimodal_text",
                "parts": [
                    "see",
                    {
                        "content_type": "image_asset_pointer",
                        "asset_pointer": "sediment://f1",
                        "size_bytes": 128,
                        "width": 8,
                        "height": 9,
                    },
                ],
            },
            (Text("see"), Media("image", size=128, name="sediment://f1", width=8, height=9)),
        ),
        (
            {
                "content_type": "multimodal_text",
                "parts": [
                    {"content_type": "audio_transcription", "text": "spoken", "direction": "in"},
                    {
                        "content_type": "real_time_user_audio_video_asset_pointer",
                        "audio_asset_pointer": {"asset_pointer": "f2", "format": "wav"},
                    },
                ],
            },
            (Text("spoken"), Media("audio", mime="audio/wav", name="f2")),
        ),
        (
            {"content_type": "tether_quote", "title": "T", "url": "u", "text": "q"},
            (Text("T\nu\nq"),),
        ),
        ({"content_type": "tether_browsing_display", "result": "r"}, (Text("r"),)),
        ({"content_type": "x_new", "text": "t"}, (Text("t"),)),
        (
            {"content_type": "x_new", "n": 1},
            (Opaque("x_new", '{"content_type":"x_new","n":1}'),),
        ),
        (
            {"content_type": "text", "parts": [None, 3, {"a": 1}]},
            (Opaque("unknown", "3"), Opaque("unknown", '{"a":1}')),
        ),
        ({"content_type": 4, "parts": "none", "n": []}, None),
        ([1], (Opaque("unknown", "[1]"),)),
    ],
)
def test_content_of_every_type(content: Any, parts: tuple[Part, ...] | None) -> None:
    (one,) = opened(chain({**said("u1", "user"), "content": content})).messages
    if parts is None:
        assert one.kinds == {"opaque"}
    else:
        assert one.parts == parts


def test_files_beside_a_message_are_shown_and_pictures_not_twice() -> None:
    attachments = [
        {"name": "a.pdf", "mime_type": "application/pdf", "size": 9},
        {"name": "a.png", "mime_type": "image/png", "size": 9},
        None,
    ]
    (one,) = opened(chain(said("u1", "user", metadata={"attachments": attachments}))).messages
    assert one.parts[1:] == (Media("document", "application/pdf", 9, "a.pdf"),)


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        ({"current_node": "a0"}, ["ctx", "u1", "a0"]),
        ({"current_node": "nowhere"}, ["ctx", "u1", "a1", "t1", "a2", "u2", "a3"]),
        ({"current_node": None}, ["ctx", "u1", "a1", "t1", "a2", "u2", "a3"]),
    ],
)
def test_which_branch_is_meant(change: dict[str, Any], ids: list[str]) -> None:
    assert [m.id for m in opened({**CONVERSATION, **change}).messages] == ids


def test_trees_that_go_round_or_lack_nodes_are_read_as_far_as_they_go() -> None:
    circle = tree(("a", "b", said("a", "user")), ("b", "a", said("b", "assistant")))
    assert [m.id for m in opened(circle).messages] == ["a", "b"]
    torn = tree(("b", "gone", said("b", "user")), ("c", "b", said("c", "assistant")))
    assert [m.id for m in opened(torn).messages] == ["b", "c"]
    odd = {**torn, "mapping": {**torn["mapping"], "x": None, "y": {"message": "no"}, "z": 3}}
    assert len(opened(odd)) == 2
    empty = opened([{"mapping": {}, "current_node": "n"}])
    assert (len(empty), empty.problems[0].code) == (0, "no-messages")


def test_hidden_and_empty_messages() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    session = opened(
        chain(
            said("s1", "system", {"content_type": "text", "parts": [""]}),
            said("u1", "user", "be kind", metadata=hidden),
            said("u2", "user", "hi"),
        )
    )
    assert [(m.id, m.typed) for m in session.messages] == [("u1", False), ("u2", True)]
    assert session.left_out == {"empty messages": 1}


def test_one_of_several_conversations() -> None:
    second = chain(said("u9", "user", "Other."), conversation_id="c-2", id="c-2", title="Two")
    session = opened([CONVERSATION, second])
    assert [(c.id, c.title, c.messages) for c in session.conversations] == [
        ("c-1", "Boxes", 9),
        ("c-2", "Two", 1),
    ]
    assert [p.code for p in session.problems] == ["several-conversations"]
    for document in ([CONVERSATION, second], {"conversations": [CONVERSATION, second]}):
        chosen = opened(document, conversation="c-2")
        assert [m.text for m in chosen.messages] == ["Other."]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in (CONVERSATION, second))
    assert [m.text for m in load(lines, conversation="2").messages] == ["Other."]
    with pytest.raises(SessionError, match="no conversation 'c-3'"):
        opened([CONVERSATION, second], conversation="c-3")


# ---------------------------------------------------------------------------------- writing


@pytest.mark.parametrize("indent", [None, 1])
def test_the_new_branch_hangs_together(indent: int | None) -> None:
    document = [CONVERSATION, chain(said("u9", "user"), id="c-2")]
    data = json.dumps(document, indent=indent).encode()
    session = load(data)
    made = compacted(session, 5)
    out = saved(session, made)
    assert same(load(out).messages, made)
    first, second = json.loads(out)
    assert second == document[1]
    mapping = first["mapping"]
    (new,) = mapping.keys() - CONVERSATION["mapping"].keys()
    # What leads to the branch stays, thoughts stay with the answer they came before.
    assert list(mapping) == ["root", "sys", new, "th", "a1", "t1", "a2", "u2", "a3"]
    assert first["current_node"] == "a3"
    names = list(mapping)
    for number, name in enumerate(names):
        assert mapping[name]["parent"] == (names[number - 1] if number else None)
        assert mapping[name]["children"] == names[number + 1 : number + 2]
        if name != new:
            assert mapping[name]["message"] == CONVERSATION["mapping"][name]["message"]
    summary = mapping[new]["message"]
    assert summary["author"]["role"] == "user"
    assert summary["content"] == {"content_type": "text", "parts": [made[0].text]}
    assert summary["create_time"] == 1767323045.5
    assert {**first, "mapping": 0} == {**CONVERSATION, "mapping": 0}
    if indent:
        # A node between the same neighbours has its very bytes.
        kept = json.dumps(CONVERSATION["mapping"]["a3"], indent=1).replace("\n", "\n   ")
        assert kept.encode() in out
    assert saved(session, made) == out


def test_an_unchanged_export_is_the_same_and_says_that_nothing_imports_it() -> None:
    data = json.dumps([CONVERSATION]).encode()
    out, findings = render_bytes(load(data))
    assert out == data
    assert [found.code for found in findings] == ["no-import"]
    session = load(data)
    _, findings = render_bytes(
        type(session)(session.source, "chatgpt", session.messages[1:], document=session.document)
    )
    assert [found.code for found in findings] == ["other-branches", "no-import"]


def test_a_new_end_becomes_the_node_last_seen() -> None:
    session = opened(CONVERSATION)
    call = message("assistant", [Text("Again."), Thinking("hm"), ToolCall("x", "python", "1")])
    answer = message("tool", [ToolResult("x", (Text("1"),), name="python")])
    out = json.loads(saved(session, [*session.messages[:2], call, answer]))
    nodes = list(out["mapping"].values())
    assert out["current_node"] == nodes[-1]["id"]
    again = opened(out)
    assert [m.role for m in again.messages[2:]] == ["assistant", "assistant", "tool"]
    assert again.messages[3].calls == again.messages[4].results
    assert opened(json.loads(saved(session, []))).messages == ()


def test_text_beyond_ascii_and_a_mark_in_front_stay() -> None:
    data = "\ufeff" + json.dumps(chain(said("u1", "user", "é😀"), said("a1", "assistant", "ü")),
                                 ensure_ascii=False)  # fmt: skip
    session = load(data.encode())
    new = message("user", "naïve 😀")
    out = saved(session, [session.messages[0], new, session.messages[1]])
    assert out.startswith(b"\xef\xbb\xbf{")
    assert [m.text for m in load(out).messages] == ["é😀", "naïve 😀", "ü"]


def test_an_export_that_breaks_off_is_used_as_far_as_it_goes() -> None:
    data = json.dumps([CONVERSATION, CONVERSATION]).encode()
    session = load(data[: len(data) // 2 + 900], conversation="1")
    assert len(session) == 7
    assert session.problems[0].code == "broken-json"
    made = compacted(session, 2)
    assert same(load(saved(session, made)).messages, made)


def test_other_sessions_become_an_export_and_back() -> None:
    session = opened(CONVERSATION)
    chat = load(saved(session, form="openai-chat"))
    assert [m.role for m in chat.messages] == [m.role for m in session.messages]
    assert chat.messages[2].calls == chat.messages[3].results
    again = load(saved(chat, form="chatgpt"))
    assert again.format == "chatgpt"
    assert [(m.role, m.text) for m in again.messages] == [(m.role, m.text) for m in chat.messages]


# ------------------------------------------------------------------------------- containers


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def test_the_archive_of_an_export_is_opened(tmp_path: Path) -> None:
    listed = json.dumps([CONVERSATION]).encode()
    other = json.dumps([{**CONVERSATION, "id": "c-2", "conversation_id": "c-2"}]).encode()
    whole = {"user.json": b"{}", "export/conversations.json": listed}
    assert same(load(zipped(whole)).messages, opened([CONVERSATION]).messages)
    split = {"conversations-001.json": other, "conversations-000.json": listed, "a.html": b""}
    for data in (split, {f"x/{name}": held for name, held in split.items()}):
        session = load(zipped(data))
        assert [c.id for c in session.conversations] == ["c-1", "c-2"]
    empty = {"conversations-000.json": b"[]", "conversations-001.json": b" [ ] "}
    with pytest.raises(SessionError):
        load(zipped(empty))
    for name, held in split.items():
        (tmp_path / name).write_bytes(held)
    assert [c.id for c in load(tmp_path).conversations] == ["c-1", "c-2"]


def test_archives_that_are_no_export_or_broken_are_told() -> None:
    with pytest.raises(SessionError, match="is a ZIP archive"):
        load(zipped({"notes.txt": b"hi"}))
    good = zipped({"conversations.json": json.dumps([CONVERSATION]).encode()})
    with pytest.raises(SessionError, match="damaged ZIP archive"):
        load(good[:200])
    with pytest.raises(SessionError, match="is no list"):
        load(zipped({"conversations-000.json": b"{}", "conversations-001.json": b"[]"}))
    bomb = zipped({"conversations.json": b" " * (70 << 20)})
    with pytest.raises(SessionError, match="unpacks to more than"):
        load(bomb)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (CONVERSATION, "chatgpt"),
        ([CONVERSATION], "chatgpt"),
        ({"conversations": [CONVERSATION]}, "chatgpt"),
        ({"raw_provider_payload": CONVERSATION, "session": {"turns": []}}, "chatgpt"),
        ({"serverResponse": {"data": CONVERSATION}}, "chatgpt"),
        ({"mapping": {"a": "b"}, "title": "t"}, ""),
        ({"mapping": ["a"], "current_node": "t"}, ""),
        ({"mapping": {}}, ""),
    ],
)
def test_what_is_an_export(document: object, name: str) -> None:
    assert name_of(document) == name


#: Roles in the window, and what is left out.
REAL: dict[str, tuple[list[str], dict[str, int]]] = {
    "convonaut--conversations.json": (["user", "assistant", "user", "assistant", "user"], {}),
    "polylogue--native-browser-capture-v1.json": (
        ["system", "user", "assistant", "tool", "assistant"],
        {"other branches": 1, "reasoning that is not sent again": 2},
    ),
    "polylogue--representative-00.json": (["user", "user"], {"other branches": 1}),
    "polylogue--representative-01.json": (
        ["user", "assistant", "assistant"],
        {"other branches": 1},
    ),
}


@pytest.mark.parametrize("path", shared("chatgpt-export"))
def test_real_exports(path: Path) -> None:
    roles, left_out = REAL[path.name]
    session = load(path)
    assert session.format == "chatgpt"
    assert [m.role for m in session.messages] == roles
    assert session.left_out == left_out
    assert len(session.conversations) == (7 if "convonaut" in path.name else 0)
    assert saved(session) == path.read_bytes()
    if len(session) > 2:
        made = compacted(session, 1)
        assert same(load(saved(session, made)).messages, made)
    for number in range(1, len(session.conversations) + 1):
        other = load(path, conversation=str(number))
        made = compacted(other, 2)
        assert same(load(saved(other, made), conversation=str(number)).messages, made)
