"""Policies of one's own, for prototypes.

A class that derives from :class:`Scheduler` or :class:`VictimPolicy` and gives a ``name`` is registered by
that alone, and its name then works wherever a built-in one does:

>>> import flashlane as fl
>>> class Oldest(fl.Scheduler, name="oldest"):
...     \"\"\"The oldest work first, whoever it is for.\"\"\"
...
...     def __init__(self, drive):
...         self.waiting = [[] for _ in range(drive.dies)]
...
...     def enqueue(self, die, work):
...         self.waiting[die].append(work)
...
...     def next(self, die, state):
...         for work in self.waiting[die]:
...             if state.is_ready(work) or state.is_pointless(work):
...                 self.waiting[die].remove(work)
...                 return work
>>> fl.Device("tiny", scheduler="oldest").scheduler
'oldest'

Every decision is a call into Python: docs/own-policies.md says what that costs. Times are in picoseconds.
"""

from __future__ import annotations

import hashlib
import inspect
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from flashlane import _flashlane
from flashlane._flashlane import Plane, Random, State, Work


@dataclass(frozen=True)
class DriveShape:
    """What a scheduler is told of its drive."""

    dies: int
    """Dies, which are numbered from 0."""
    planes_per_die: int
    """The most transactions of a command."""
    pages_per_block: int
    page_bytes: int
    tenants: int
    """Flows of the workload, which are numbered from 0."""


@dataclass(frozen=True)
class Verdict:
    """What became of a rule that policies have to keep."""

    rule: str
    broken: str | None
    """How it was broken; ``None`` if it was held."""

    def __bool__(self) -> bool:
        """True if the rule was held."""
        return self.broken is None


class _Policy:
    """What schedulers and victim policies share."""

    _family: ClassVar[str]
    _optional: ClassVar[tuple[str, ...]] = ()
    _skipped: ClassVar[int]
    name: ClassVar[str]

    def __init_subclass__(cls, *, name: str | None = None, source: str = "Python", **rest: Any) -> None:
        """Registers the class under a name, in place of one that had it before.

        Args:
            name: what selects the policy: small letters, digits and hyphens; without it, nothing is done.
            source: where the policy comes from, for lists.
            rest: for other base classes.
        """
        super().__init_subclass__(**rest)
        if name is None:
            return
        base = Scheduler if issubclass(cls, Scheduler) else VictimPolicy
        cls.name = name
        summary = (inspect.getdoc(cls) if cls.__doc__ else None) or f"the class {cls.__qualname__}"
        _flashlane.register_policy(
            family=cls._family,
            name=name,
            summary=summary.splitlines()[0],
            source=source,
            **{"class": cls},
            read=lambda given: _parameters(cls, given),
            methods=[one for one in cls._optional if getattr(cls, one) is not getattr(base, one)],
            fingerprint=_fingerprint(cls),
        )


def _parameters(cls: type[_Policy], given: dict[str, Any] | None) -> dict[str, Any]:
    """All parameters of a policy: the given ones, and the defaults of its constructor."""
    named = list(inspect.signature(cls.__init__).parameters.values())[1 + cls._skipped :]
    known = {one.name: one.default for one in named if one.kind is not one.VAR_KEYWORD}
    allowed = ", ".join(f"`{one}`" for one in known) or "no parameters"
    for one in given or {}:
        if one not in known:
            raise ValueError(f"unknown field `{one}`, expected one of {allowed}")
    merged = known | (given or {})
    for one, value in merged.items():
        if value is inspect.Parameter.empty:
            raise ValueError(f"missing field `{one}`")
    return merged


def _fingerprint(cls: type[_Policy]) -> str:
    """Says which code a class is: results that sweeps keep belong to it. Unknown code is never the same."""
    module = inspect.getmodule(cls)
    for part in (module, cls):
        try:
            return hashlib.sha256(inspect.getsource(part).encode()).hexdigest()  # type: ignore[arg-type]
        except (OSError, TypeError):
            continue
    return uuid.uuid4().hex


class Scheduler(_Policy):
    """Decides what each die does next. It owns the queues, and cannot act.

    Derive from it and give a name: ``class Mine(fl.Scheduler, name="mine")``. Parameters are keyword
    arguments of ``__init__`` with defaults; ``fl.Device("tiny", set={"scheduler.mine.quantum": 4})`` sets
    them, or ``scheduler = { mine = { quantum = 4 } }`` in a file. The object is made anew for every run, and
    copied (``copy.deepcopy``) with snapshots of its drive.
    """

    _family = "scheduler"
    _optional = ("next_read", "interrupt", "rank", "completed", "wake")
    _skipped = 1

    def __init__(self, drive: DriveShape) -> None:
        """Makes the queues.

        Args:
            drive: sizes of the drive.
        """

    def enqueue(self, die: int, work: Work) -> None:
        """Work is ready for a die: put it into a queue."""
        raise NotImplementedError

    def next(self, die: int, state: State) -> Work | Iterable[Work] | None:
        """The die is free: what it does.

        Take what you return out of your queues: it is never ready again. The first piece of work must be one
        for which ``state.is_ready`` is true; more may follow that go together with it, one a plane. Work for
        which ``state.is_pointless`` is true may be among them, or come alone, and is dropped; the method is
        then asked again. ``None``: nothing now.
        """
        raise NotImplementedError

    def next_read(self, die: int, state: State) -> Work | Iterable[Work] | None:
        """The die is free and the channel has other read data waiting: reads, if they are next anyhow."""
        return None

    def interrupt(self, die: int, state: State) -> Work | Iterable[Work] | None:
        """The die runs a program or an erase: reads that are worth an interruption."""
        return None

    def rank(self, die: int, state: State) -> tuple[int, int] | None:
        """Which of several free dies of a chip goes first: the smallest kind of work, then the oldest.

        Without this method, the die with the oldest work. ``None``: the die has nothing to do now.
        """
        raise NotImplementedError

    def completed(self, die: int, work: Work, now: int) -> None:
        """Work is done, erases included."""

    def wake(self) -> int | None:
        """When one that leaves ready work waiting wants to be asked again; called after every event."""
        return None

    def woken(self, now: int) -> None:
        """The time that ``wake`` named is there."""


class VictimPolicy(_Policy):
    """Decides which block garbage collection empties next.

    The drive starts in the steady state of the policy, which is found by writing a plane without time.
    """

    _family = "ftl.gc.victim"
    _skipped = 0

    def __init__(self) -> None:
        """One object chooses for all planes of a drive."""

    def select(self, plane: Plane, random: Random) -> int | None:
        """The block to empty: one of ``plane.candidates()``, or ``None`` where there are none.

        Args:
            plane: the blocks of the plane, as they are now.
            random: draws of the run's seed; no others, or runs do not repeat themselves.
        """
        raise NotImplementedError


def conformance(policy: type[Scheduler] | type[VictimPolicy]) -> list[Verdict]:
    """Tries the rules that every policy of its family has to keep on a registered class.

    Raises:
        Exception: whatever the policy raises.
    """
    rows = _flashlane.conformance(policy._family, policy.name)
    return [Verdict(rule, broken) for rule, broken in rows]


class PolicyInfo(NamedTuple):
    """A policy that a device or a workload may name."""

    #: The key that takes the policy: ``scheduler``, ``isolation``, …
    family: str
    #: The name of the policy.
    name: str
    #: The effect of the policy, in a sentence.
    summary: str
    #: The paper and section from which the policy comes.
    source: str
    #: True if the source leaves parts of the policy open, which were worked out anew.
    reconstructed: bool


def policies(family: str | None = None) -> list[PolicyInfo]:
    """Every built-in policy, or those of one family.

    >>> [policy.name for policy in policies("isolation")]
    ['unified', 'partitioned', 'upi']
    """
    found = [PolicyInfo(*one) for one in _flashlane.policies()]
    families = list(dict.fromkeys(policy.family for policy in found))
    if family is not None and family not in families:
        raise ValueError(f"policies: found {family!r}, allowed: {', '.join(families)}")
    return [policy for policy in found if family in (None, policy.family)]
