"""What media cost: a flat number of tokens by kind, never the length of their base64 text.

No provider publishes one rule for all its models, so every number here is a stated estimate:

- an image of known size costs what GPT-4o counts for it: fitted into 2,048 pixels, its short side
  brought down to 768, then 85 tokens and 170 for every tile of 512 pixels. Claude's rule (patches
  of 28 pixels, about 1,600 at most) gives numbers of the same order;
- with `detail: low` it costs 85; of unknown size it costs what a screen of 1920x1080 costs;
- a document is taken for two pages, a sound for half a minute, a video for half a minute at one
  frame a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from compaction.messages import Media, MediaKind

IMAGE_BASE = 85
IMAGE_TILE = 170
_TILE_PIXELS = 512
_LONG_SIDE = 2048
_SHORT_SIDE = 768

#: Tokens of media about which nothing but the kind is known.
FLAT: Mapping[MediaKind, int] = {
    "image": 1_105,
    "audio": 1_000,
    "video": 8_000,
    "document": 3_000,
    "file": 1_500,
}

#: Tokens of a long base64 run inside a part that nobody knows.
BLOB = FLAT["file"]


def media_tokens(media: Media) -> int:
    """The tokens of one image, sound, video, document or file, by the rules of this module."""
    if media.kind != "image":
        return FLAT[media.kind]
    if media.detail == "low":
        return IMAGE_BASE
    if media.width <= 0 or media.height <= 0:
        return FLAT["image"]
    return image_tokens(media.width, media.height)


def image_tokens(width: int, height: int) -> int:
    """The tokens of an image of `width` by `height` pixels at high detail."""
    scale = min(1.0, _LONG_SIDE / max(width, height))
    scale = min(scale, _SHORT_SIDE / min(width, height))
    # Rounded first: 1365.3333 * 0.75 must not become one tile more by a rounding error.
    across = ceil(round(width * scale, 6) / _TILE_PIXELS)
    down = ceil(round(height * scale, 6) / _TILE_PIXELS)
    return IMAGE_BASE + IMAGE_TILE * max(across, 1) * max(down, 1)


def sealed_tokens(length: int) -> int:
    """The tokens of reasoning that is held as `length` characters of encrypted base64 text.

    Three quarters of them are bytes, some 650 of those are no content, and four bytes make a
    token: the estimate Codex makes of its own reasoning items. At least 1, 0 for nothing.
    """
    if length <= 0:
        return 0
    return max(1, (length * 3 // 4 - 650) // 4)
