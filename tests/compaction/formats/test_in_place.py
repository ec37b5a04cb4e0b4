"""What is changed of a message is changed in its record, and nothing else of the file."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import compaction
import sample_sessions
from compaction.compacting import Compacted
from compaction.export import render_bytes
from compaction.formats import format_named, in_place
from compaction.messages import Changed, Message, Part, ToolResult
from compaction.policy import Policy, Safety, SummaryBlock
from compaction.policy_passes import ClearToolResults, ClipToolResults
from compaction.summary import FromCallable

GONE = "[gone]"
LONG = "The north gate scanner was reset; lane four was measured again before noon. " * 4
CLEAR = ClearToolResults(keep=0, placeholder=GONE)

REAL = Path(__file__).resolve().parents[4] / "shared" / "sessions"


def cleared(data: bytes, *passes: object, keep: int = 0, summarize: bool = False) -> Compacted:
    session = compaction.load(data)
    policy = Policy(
        budget=1,
        keep_recent=keep,
        before=passes or (CLEAR,),  # type: ignore[arg-type]
        safety=Safety("off"),
        summary=SummaryBlock(middle="summarize" if summarize else "keep", label="", accept="any"),
    )
    summarizer = FromCallable(lambda _: "So far.", "stub")
    return compaction.compact(compaction.plan(session, policy), summarizer)


def line(**record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def claude(*contents: tuple[str, object], **more: object) -> bytes:
    lines, parent = [], None
    for number, (role, content) in enumerate(contents):
        record = {"parentUuid": parent, "sessionId": "s", "type": role, "slug": "odd\u2028name"}
        record |= {"message": {"role": role, "content": content}, "uuid": f"u{number}", "x": 1.50}
        record |= {"timestamp": f"2026-01-02T03:04:0{number}.000Z", **more}
        parent = f"u{number}"
        lines.append(json.dumps(record).encode() + b"\n")
    return b"".join(lines)


def use(id_: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": id_, "name": "Read", "input": given, "caller": {"n": 1}}


def result(id_: str, content: object, **more: object) -> dict[str, object]:
    return {"tool_use_id": id_, "type": "tool_result", "content": content, **more}


def test_a_line_of_claude_code_loses_the_output_and_nothing_else() -> None:
    file = claude(
        ("user", "Look at the gate."),
        ("assistant", [use("t1", path="/a")]),
        ("user", [result("t1", LONG, is_error=False, cache={"ttl": 1e3})]),
        ("assistant", [{"type": "text", "text": "It is open."}]),
    )
    out, findings = render_bytes(cleared(file))
    assert out == file.replace(json.dumps(LONG).encode(), json.dumps(GONE).encode())
    assert findings == ()


def test_what_the_screen_showed_of_an_output_goes_with_it() -> None:
    contents = [
        ("user", "Look."),
        ("assistant", [use("t1")]),
        ("user", [result("t1", LONG)]),
        ("assistant", [{"type": "text", "text": "Yes."}]),
    ]
    shown = {"file": {"content": LONG, "numLines": 4}}
    out, _ = render_bytes(cleared(claude(*contents, toolUseResult=shown)))
    # Of the other lines it is no output of theirs, so it stays there.
    lines = [json.loads(each) for each in out.splitlines()]
    assert ["toolUseResult" in each for each in lines] == [True, True, False, True]
    assert lines[2]["uuid"] == "u2"
    assert lines[3]["parentUuid"] == "u2"


PRETTY = """{
    "model": "gpt-5",
    "temperature": 1.0e0,
    "messages": [
        {"role": "user", "content": "Look at the gate.", "x_id": 10000000000000000000000001},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "%s"}}
            ],
            "x_cost": 0.10
        },
        {
            "role": "tool",   "tool_call_id": "c1",
            "content": "%s",
            "x_took": 1.50, "x_copy": "%s"
        },
        {"role": "assistant", "content": "Open."}
    ],
    "x_after": [1e2]
}
"""


def test_a_pretty_document_keeps_its_layout_numbers_and_unknown_members() -> None:
    file = (PRETTY % ("{}", LONG, LONG)).encode()
    out, _ = render_bytes(cleared(file))
    assert out == (PRETTY % ("{}", GONE, GONE)).encode()


def test_arguments_that_are_cleared_too() -> None:
    given = json.dumps(json.dumps({"path": "/srv/depot/" + "gate/" * 30}))[1:-1]
    file = (PRETTY % (given, LONG, LONG)).encode()
    done = cleared(file, ClearToolResults(keep=0, inputs=True, placeholder=GONE))
    out, _ = render_bytes(done)
    assert out == (PRETTY % ("{}", GONE, GONE)).encode()


def test_arguments_that_are_an_object() -> None:
    path = "/srv/depot/" + "gate/" * 30
    contents = [
        ("user", "Look."),
        ("assistant", [use("t1", path=path)]),
        ("user", [result("t1", LONG)]),
        ("assistant", [{"type": "text", "text": "Yes."}]),
    ]
    file = claude(*contents)
    out, _ = render_bytes(
        cleared(file, ClearToolResults(keep=0, inputs=True, placeholder=GONE))
    )
    given = json.dumps({"path": path}).encode()
    want = file.replace(given, b"{}").replace(json.dumps(LONG).encode(), b'"[gone]"')
    assert out == want


def test_blocks_become_one_and_clipping_keeps_their_number() -> None:
    blocks = [{"type": "text", "text": f"{n} {LONG}", "note": n} for n in range(3)]
    contents = [
        ("user", "Look."),
        ("assistant", [use("t1")]),
        ("user", [result("t1", blocks)]),
        ("assistant", [{"type": "text", "text": "Yes."}]),
    ]
    file = claude(*contents)
    record = json.loads(render_bytes(cleared(file))[0].splitlines()[2])
    assert record["message"]["content"][0]["content"] == [
        {"type": "text", "text": GONE, "note": 0}
    ]
    clipped = render_bytes(cleared(file, ClipToolResults(max_chars=120)))[0]
    held = json.loads(clipped.splitlines()[2])["message"]["content"][0]["content"]
    assert [each["note"] for each in held] == [0, 1, 2]
    assert all("characters clipped" in each["text"] for each in held)


def test_an_output_with_a_picture_is_replaced_whole() -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 40}
    blocks = [{"type": "text", "text": LONG}, {"type": "image", "source": picture}]
    contents = [
        ("user", "Look."),
        ("assistant", [use("t1")]),
        ("user", [result("t1", blocks, cache=1)]),
        ("assistant", [{"type": "text", "text": "Yes."}]),
    ]
    record = json.loads(render_bytes(cleared(claude(*contents)))[0].splitlines()[2])
    block = record["message"]["content"][0]
    assert block == result("t1", [{"type": "text", "text": GONE}], cache=1)


def test_like_outputs_of_which_one_is_spared_are_rendered_right() -> None:
    contents = [
        ("user", "Look."),
        ("assistant", [use("t1"), use("t2")]),
        ("user", [result("t1", LONG), result("t2", LONG)]),
        ("assistant", [{"type": "text", "text": "Yes."}]),
    ]
    done = cleared(claude(*contents), ClearToolResults(keep=1, placeholder=GONE))
    again = compaction.load(render_bytes(done)[0])
    texts = [p.text for m in again.messages for p in m.parts if isinstance(p, ToolResult)]
    assert texts == [GONE, LONG]


def test_behind_a_summary_too() -> None:
    contents: list[tuple[str, object]] = []
    for n in range(3):
        contents += [
            ("user", f"Question {n}."),
            ("assistant", [use(f"t{n}")]),
            ("user", [result(f"t{n}", LONG, cache=n)]),
            ("assistant", [{"type": "text", "text": f"Answer {n}."}]),
        ]
    done = cleared(claude(*contents), keep=4, summarize=True)
    assert done.summary is not None
    lines = [json.loads(each) for each in render_bytes(done)[0].splitlines()]
    kept = [each for each in lines if each.get("uuid", "").startswith("u")]
    assert [each["uuid"] for each in kept][-4:] == ["u8", "u9", "u10", "u11"]
    last = next(each for each in kept if each["uuid"] == "u10")
    assert last["message"]["content"] == [result("t2", GONE, cache=2)]
    assert last["x"] == 1.5


def test_the_full_history_is_written_anew() -> None:
    contents = [
        ("user", "Look."),
        ("assistant", [use("t1")]),
        ("user", [result("t1", LONG)]),
        ("assistant", [{"type": "text", "text": "Yes."}]),
    ]
    # Behind a boundary of the tool the rest is gone; the whole is asked for all the same.
    gone = re.sub(rb'"u(\d)"', rb'"v\1"', claude(*contents))
    boundary = line(
        type="system", subtype="compact_boundary", content="Conversation compacted",
        uuid="b", parentUuid=None, logicalParentUuid="v3", sessionId="s",
        timestamp="2026-01-02T03:05:00.000Z",
    )  # fmt: skip
    live = claude(("user", "Go on."), ("assistant", [{"type": "text", "text": "Done."}]))
    live = live.replace(b'"parentUuid": null', b'"parentUuid": "b"')
    session = compaction.load(gone + boundary + live, history="full")
    assert len(session) == 6
    policy = Policy(
        budget=1, keep_recent=0, before=(CLEAR,), safety=Safety("off"),
        summary=SummaryBlock(middle="keep"),
    )  # fmt: skip
    done = compaction.compact(compaction.plan(session, policy))
    assert list(done.plan.cleared) == [2]
    again = compaction.load(render_bytes(done)[0])
    assert _content(again.messages) == _content(done.messages)


def test_the_work_grows_with_the_results_of_a_message_and_not_faster() -> None:
    def steps(many: int) -> int:
        contents = [
            ("user", "Go."),
            ("assistant", [use(f"t{n}", n=n) for n in range(many)]),
            ("user", [result(f"t{n}", f"{n} {LONG}") for n in range(many)]),
            ("assistant", [{"type": "text", "text": "Yes."}]),
        ]
        done = cleared(claude(*contents), ClearToolResults(keep=1, inputs=True, placeholder=GONE))
        calls = 0

        def count(_frame: object, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            render_bytes(done)
        finally:
            sys.setprofile(None)
        return calls

    assert steps(160) < 5 * steps(40)


@pytest.mark.parametrize("name", [each.name for each in sample_sessions.samples()])
def test_all_but_the_changed_messages_of_a_sample_are_the_same_bytes(name: str) -> None:
    data = Path(sample_sessions.path(name)).read_bytes()
    done = cleared(data)
    if not done.made:
        pytest.skip("it has no tool result that clearing makes smaller")
    messages, session = in_place.made_in_place(
        done.messages, done.session, format_named(done.session.format)
    )
    if done.session.format == "yaml":
        assert session is done.session
        return
    assert not any(isinstance(message.body, Changed) for message in messages)
    before, after = done.session, session
    for number, (was, now) in enumerate(zip(before.messages, after.messages, strict=True)):
        if done.account[number].region != "cleared":
            raws = [before.source.raw(span) for span in was.spans]
            assert [after.source.raw(span) for span in now.spans] == raws


def _content(messages: Sequence[Message]) -> list[tuple[str, list[Part]]]:
    return [(each.role, [in_place._bare(part) for part in each.parts]) for each in messages]


@pytest.mark.skipif(not REAL.is_dir(), reason="the shared sessions are not there")
def test_of_the_real_sessions_nearly_everything_is_changed_in_place() -> None:
    made: dict[str, list[int]] = {}
    for path in sorted(REAL.rglob("*")):
        if not path.is_file() or path.stat().st_size > 1_500_000:
            continue
        try:
            session = compaction.load(path)
        except compaction.SessionError:
            continue
        form = format_named(session.format)
        done = cleared(path.read_bytes()) if not form.read_only else None
        if done is None or not done.made or done.session.format != session.format:
            continue
        messages, _ = in_place.made_in_place(done.messages, done.session, form)
        left = sum(isinstance(each.body, Changed) for each in messages)
        were = sum(isinstance(each.body, Changed) for each in done.messages)
        counts = made.setdefault(session.format, [0, 0])
        counts[0] += were - left
        counts[1] += left
        again = compaction.load(render_bytes(done)[0], format=session.format)
        assert _content(again.messages) == _content(done.messages), path.name
    # Markdown and YAML have no records of JSON; ADK and Amp keep an output as an object, Inspect
    # an error beside it.
    anew = {name: left for name, (_, left) in made.items() if left}
    assert set(anew) <= {"specstory", "yaml", "adk", "amp", "inspect"}
    assert sum(count for count, _ in made.values()) > 300


