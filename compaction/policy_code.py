"""A policy of one's own, as Python: `file.py:Name`, a class or function that gives a Policy."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from compaction.errors import PolicyError
from compaction.policy import Policy
from compaction.policy_checks import nearest


def is_code(spec: str) -> bool:
    """Whether `spec` names something in a Python file."""
    path, colon, name = spec.rpartition(":")
    return bool(colon) and path.lower().endswith(".py") and bool(name)


def policy_of_code(spec: str) -> Policy:
    """The policy that `file.py:Name` gives. Raises PolicyError.

    Name is a Policy, a function without arguments that returns one, or a class whose instance is
    one or has it as `policy`. The file is run, as any program is.
    """
    path, _, name = spec.rpartition(":")
    module = _module(Path(path))
    target = getattr(module, name, None)
    if target is None:
        known = [each for each in vars(module) if not each.startswith("_")]
        raise PolicyError(f"{path} has no {name!r}{nearest(name, known)}.")
    try:
        made = target() if callable(target) else target
        if not isinstance(made, Policy):
            made = getattr(made, "policy", made)
            made = made() if callable(made) else made
    except PolicyError as error:
        raise PolicyError(f"{spec}: {error}") from None
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{spec} failed: {_said(error)}.") from error
    if not isinstance(made, Policy):
        raise PolicyError(
            f"{spec} gives {type(made).__name__}, not a Policy; return compaction.Policy(…)."
        )
    return made


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise PolicyError(f"there is no Python file {path}; check the path.")
    name = f"_policy_{path.stem}"
    found = spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise PolicyError(f"{path} cannot be read as Python.")
    module = module_from_spec(found)
    # A dataclass looks its module up by name while it is made.
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except SyntaxError as error:
        raise PolicyError(
            f"{path}, line {error.lineno}: this is not Python: {error.msg}."
        ) from None
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{path} failed while it was read: {_said(error)}.") from error
    return module


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": .")
