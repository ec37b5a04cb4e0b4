"""Documents that break off: what is whole of them can be written, as JSON again."""

from __future__ import annotations

import json

import pytest

from compaction.formats import format_named, load
from compaction.messages import message

WHOLE = (
    '{"a": [1], "messages": [{"role": "user", "content": "one"}, '
    '{"role": "assistant", "content": "two"}], "tools": [{"name": "x"}], "model": "gpt-5"}'
)
SUMMARY = message("user", "Short.", summary="compaction")


@pytest.mark.parametrize("cut", range(WHOLE.index("}, ") + 1, len(WHOLE)))
def test_a_document_that_breaks_off_anywhere_is_written_whole(cut: int) -> None:
    session = load(WHOLE[:cut].encode())
    writer = format_named("openai-chat")
    written = json.loads(b"".join(writer.write(session.messages, session).chunks))
    whole = json.loads(WHOLE)
    assert written["messages"] == whole["messages"][: len(session)]
    assert all(whole[key] == value for key, value in written.items() if key != "messages")
    assert (len(session) == 2) == (cut > WHOLE.index('"two"}') + 5)
    made = [SUMMARY, session.messages[-1]]
    again = json.loads(b"".join(writer.write(made, session).chunks))
    assert again["messages"] == [
        {"role": "user", "content": "Short."},
        whole["messages"][len(session) - 1],
    ]


def test_of_several_documents_the_last_one_breaks_off() -> None:
    one = '{"messages": [{"role": "user", "content": "a"}]}'
    data = f'[{one}, {one.replace("a", "b", 1)}, {{"messages": [{{"ro'.encode()
    session = load(data)
    written = b"".join(format_named("openai-chat").write([SUMMARY], session).chunks)
    assert json.loads(written)[0] == {"messages": [{"role": "user", "content": "Short."}]}
