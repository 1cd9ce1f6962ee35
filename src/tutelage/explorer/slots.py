"""Who may run now: as many at once as there are cores, no visitor on more than half of them, the
others in a queue.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field


@dataclass(eq=False)
class Ticket:
    """One run's place; `changed` is set whenever that place changes."""

    visitor: str
    ready: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Slots:
    """All of it happens in the thread of the event loop, so that nothing is locked."""

    def __init__(self, count: int) -> None:
        self.count, self.each = count, max(1, count // 2)
        self.running: Counter[str] = Counter()
        self.waiting: list[Ticket] = []

    def enter(self, visitor: str) -> Ticket:
        ticket = Ticket(visitor)
        self.waiting.append(ticket)
        self._go()
        return ticket

    def leave(self, ticket: Ticket) -> None:
        if ticket.ready:
            self.running[ticket.visitor] -= 1
        else:
            self.waiting.remove(ticket)
        self._go()

    def ahead(self, ticket: Ticket) -> int:
        """How many runs must end or begin before this one: those that hold the slots, and those
        that waited longer.
        """
        return self.waiting.index(ticket) + 1

    def _go(self) -> None:
        for ticket in list(self.waiting):
            if self.running.total() < self.count and self.running[ticket.visitor] < self.each:
                self.waiting.remove(ticket)
                self.running[ticket.visitor] += 1
                ticket.ready = True
                ticket.changed.set()
        for ticket in self.waiting:
            ticket.changed.set()
