"""What tokens cost: list prices by model, or a person's own table. Never guessed.

List prices are those of the package `genai-prices`, loaded when a price is first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from compaction.errors import PolicyError

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens of one model.

    `input` for what is read anew, `cached` for what the cache holds, `written` for what is put
    into it, `output` for what the model writes. `source` says where they come from.
    """

    model: str
    input: float
    cached: float
    written: float
    output: float
    source: str

    def cost(self, *, cached: int, written: int, output: int) -> float:
        """Dollars for so many tokens read from the cache, put into it, and written."""
        whole = cached * self.cached + written * self.written + output * self.output
        return whole / _MILLION


def prices_of(
    model: str, table: str | os.PathLike[str] | Mapping[str, Any] | None = None
) -> Prices | None:
    """The prices of a model: from `table` (a YAML file, or what one holds), else list prices.

    None for a model nobody knows, and where the package with the list prices is not installed.
    Raises PolicyError for a table that cannot be used.
    """
    if not model:
        return None
    if table is not None:
        own = _from_table(model, table)
        if own is not None:
            return own
    return _listed(model)


def _from_table(model: str, table: str | os.PathLike[str] | Mapping[str, Any]) -> Prices | None:
    name = "the table of prices"
    if not isinstance(table, Mapping):
        import yaml

        name = os.fspath(table)
        try:
            value = yaml.safe_load(Path(table).read_text(encoding="utf-8"))
        except OSError as error:
            raise PolicyError(f"{name} cannot be read: {error.strerror or error}.") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise PolicyError(f"{name} is no YAML: {str(error).splitlines()[0]}.") from None
        if not isinstance(value, Mapping):
            raise PolicyError(f"{name} must map names of models to their prices.")
        table = value
    entry = table.get(model)
    if entry is None:
        return None
    if not isinstance(entry, Mapping):
        raise PolicyError(f"{name}: {model} must have input and output, dollars a million tokens.")
    known = {"input", "output", "cached", "written"}
    if odd := set(map(str, entry)) - known:
        raise PolicyError(
            f"{name}: {model} has {', '.join(sorted(odd))}; known are {', '.join(sorted(known))}."
        )
    numbers: dict[str, float] = {}
    for key, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise PolicyError(f"{name}: {model}: {key} is {value!r}; it must be a number.")
        numbers[key] = float(value)
    if not {"input", "output"} <= numbers.keys():
        raise PolicyError(f"{name}: {model} must have input and output, dollars a million tokens.")
    fresh = numbers["input"]
    return Prices(
        model,
        fresh,
        numbers.get("cached", fresh),
        numbers.get("written", fresh),
        numbers["output"],
        name,
    )


def _listed(model: str) -> Prices | None:
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    try:
        _, found = get_snapshot().find_provider_model(model, None, None, None)
    except LookupError:
        return None
    from datetime import UTC, datetime
    from importlib.metadata import version

    price = found.get_prices(datetime.now(UTC))
    fresh, output = _base(price.input_mtok), _base(price.output_mtok)
    if fresh is None or output is None:
        return None
    cached, written = _base(price.cache_read_mtok), _base(price.cache_write_mtok)
    return Prices(
        found.id,
        fresh,
        cached if cached is not None else fresh,
        written if written is not None else fresh,
        output,
        f"list prices of genai-prices {version('genai-prices')}",
    )


def _base(price: object) -> float | None:
    """A price as a number; of one that grows with the request the lowest."""
    if isinstance(price, (int, float, Decimal)):
        return float(price)
    base = getattr(price, "base", None)
    return float(base) if isinstance(base, (int, float, Decimal)) else None
