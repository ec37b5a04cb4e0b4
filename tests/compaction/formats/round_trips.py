"""A session compacted, written in its own format and read again, with what must be equal."""

from __future__ import annotations

from compaction import Digest, Policy, compact, load, plan
from compaction.compacting import Compacted
from compaction.export import render_bytes
from compaction.messages import Message, Session
from compaction.policy import Head


def compacted(session: Session, recent: int = 2) -> Compacted:
    """The session as head, summary and recent messages, whatever it costs."""
    policy = Policy(budget=1, keep_recent=recent, head=Head(first_user=True))
    return compact(plan(session, policy), Digest())


def again(result: Compacted | Session) -> Session:
    """What the session's own format wrote, read again as the format it is recognised as."""
    written, _ = render_bytes(result)
    return load(written)


def same(left: Session | Compacted, right: Session) -> None:
    """Both send the same messages."""
    assert [shown(one) for one in left.messages] == [shown(one) for one in right.messages]
    assert all(
        one.same_content(other) for one, other in zip(left.messages, right.messages, strict=True)
    )


def shown(message: Message) -> tuple[object, ...]:
    """What two messages are compared by, for a readable failure."""
    return message.role, message.preview, message.calls, message.results, message.parts
