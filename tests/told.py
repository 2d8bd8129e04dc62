"""A listener that keeps what a worker tells it."""

from __future__ import annotations


class Told:
    def __init__(self):
        self.events = []

    def changed(self, report):
        self.events.append(("changed", report.processed))

    def embedded(self, report):
        self.events.append(("embedded", report.embedded))

    def trouble(self, message):
        self.events.append(("trouble", message))

    def troubles(self):
        return [message for kind, message in self.events if kind == "trouble"]

    def count(self, kind):
        return sum(event == kind for event, _ in self.events)
