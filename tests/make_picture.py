"""Draws the picture of the README from the real app: `python -m tests.make_picture`."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from unittest.mock import patch

import compaction
import sample_sessions
from tui.app import Workbench
from tui.opening import Opening
from tui.screens.workbench import WorkbenchScreen

PICTURE = Path(__file__).resolve().parent.parent / ".readme" / "workbench.svg"
SIZE = (132, 40)


async def draw() -> str:
    """The workbench on the demo, as SVG that loads nothing from anywhere."""
    path = sample_sessions.path(sample_sessions.DEMO)
    opening = Opening(source=str(path), name=path.name, policy=compaction.Policy())
    app = Workbench(opening)
    async with app.run_test(size=SIZE) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("G", "2")
        while not (isinstance(app.screen, WorkbenchScreen) and app.screen.result):
            await pilot.pause(0.05)
        await pilot.pause()
        svg = app.export_screenshot(title=f"compaction {path.name}")
    # The fonts that the drawing would fetch: every reader has a monospaced one.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main() -> None:
    """Draw it into `.readme`."""
    with tempfile.TemporaryDirectory() as home:
        places = {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "CACHE", "STATE", "DATA")}
        with patch.dict("os.environ", {"HOME": home, **places}):
            svg = asyncio.run(draw())
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(svg, encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(PICTURE.parent.parent)}, {len(svg):,} characters")


if __name__ == "__main__":
    main()
