# SPDX-License-Identifier: GPL-2.0-only
"""Read event trace logs (ETL files) of ntklog and of Windows.

    import ntklog

    with ntklog.open("trace.etl") as trace:
        for event in trace:
            print(event.time, event.cpu, event.name, dict(event))

    with ntklog.open("trace.etl") as trace:
        spinlocks = trace.columns("SpinLock")["SpinLock"]
    print(spinlocks["WaitTimeInCycles"].max())

    print(ntklog.report("trace.etl")["locks"])

Documentation/etw/python.rst describes all of it.
"""

import collections.abc
import json
import os
import struct
import subprocess

try:
    import numpy
except ImportError:
    numpy = None

from ._etl import TYPES, DamageError, Error, Event, Reader

__all__ = ["Columns", "DamageError", "Error", "Event", "SYMBOLS", "Trace", "open", "report"]

# Codes of the module struct for unsigned numbers, by their bytes.
CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
# Columns that all events have: place and size in the head of a record.
HEAD = {"TimeStamp": (0, 8), "Cpu": (8, 4), "Version": (12, 2)}

# The layout of the newest version of an event, by name.
LAYOUTS = {name: layout for name, _, layout in TYPES}

# Names of values, by event and field: SYMBOLS["Resource"]["Action"][0x80010022].
SYMBOLS = {}
for _name, *_layouts in TYPES:
    for _field in _layouts[1][1]:
        if _field[-1]:
            SYMBOLS.setdefault(_name, {}).setdefault(_field[0], {}).update(_field[-1])


def _read(data, record_size, at, size, signed=False):
    """The numbers at one place of all records."""
    count = len(data) // record_size
    if numpy:
        kind = "<%s%d" % ("i" if signed else "u", size)
        return numpy.ndarray(count, kind, data, at, record_size) if count else \
            numpy.zeros(0, kind)
    code = CODES[size].lower() if signed else CODES[size]
    form = struct.Struct("<%dx%s%dx" % (at, code, record_size - at - size))
    return [value for value, in form.iter_unpack(data)]


class Columns(collections.abc.Mapping):
    """The columns of the events of one name: numpy arrays, or lists if there is no numpy.

    A column is made when it is first asked for.
    """

    def __init__(self, trace, parts):
        """parts: for each layout of the event, (layout, bytearray of records)."""
        self._start, self._frequency = trace.start_clock, trace.perf_freq
        self._parts, self._made = parts, {}
        self._names = ["Time", *HEAD]
        for _, fields in (layout for layout, _ in parts):
            self._names += [field[0] for field in fields if field[0] not in self._names]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._time() if name == "Time" else self._join(
                [self._column(name, *part) for part in self._parts])
        return self._made[name]

    def __repr__(self):
        return "<ntklog.Columns of %d events: %s>" % (
            sum(len(data) // size for (size, _), data in self._parts), ", ".join(self._names))

    def _time(self):
        if numpy:
            return (self["TimeStamp"] - numpy.uint64(self._start)).view("i8") / self._frequency
        return [(stamp - self._start) / self._frequency for stamp in self["TimeStamp"]]

    def _join(self, columns):
        """columns: one for each layout; None for a layout that lacks the field."""
        if len(columns) == 1:
            return columns[0]
        counts = [len(data) // layout[0] for layout, data in self._parts]
        if not numpy:
            return sum(([0] * count if column is None else column
                        for column, count in zip(columns, counts)), [])
        # Zeros of another type would make the numbers of the whole column floating.
        kind = numpy.result_type(*(column for column in columns if column is not None))
        return numpy.concatenate([numpy.zeros(count, kind) if column is None else column
                                  for column, count in zip(columns, counts)])

    @staticmethod
    def _column(name, layout, data):
        record_size, fields = layout
        if name in HEAD:
            return _read(data, record_size, *HEAD[name])
        found = [field for field in fields if field[0] == name]
        if not found:
            return None
        _, at, size, minus_at, minus_size, mask, shift, signed, version, _ = found[0]
        values = _read(data, record_size, at, size, signed)
        if minus_size:
            minus = _read(data, record_size, minus_at, minus_size)
            values = numpy.where(values > minus, values - minus, 0) if numpy else \
                [max(value - less, 0) for value, less in zip(values, minus)]
        if mask:
            values = (values & mask) >> shift if numpy else \
                [(value & mask) >> shift for value in values]
        if version:
            versions = _read(data, record_size, *HEAD["Version"])
            values = numpy.where(versions == version, values, 0) if numpy else \
                [value if has == version else 0 for value, has in zip(values, versions)]
        return values


class Trace(Reader):
    """An open trace, which can be read once: as events, or as columns."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _columns(self, names, limit):
        parts = {name: [] for name in names}
        for index, pointer_size, data in self.records(names, limit):
            name, *layouts = TYPES[index]
            parts.setdefault(name, []).append((layouts[pointer_size == 8], data))
        return {name: Columns(self, found or [(LAYOUTS[name], bytearray())])
                for name, found in parts.items()}

    def columns(self, *names):
        """Read all events that are left. Return a dictionary of the Columns of each name: of these
        names, or of all events with fields that the trace has.
        """
        return self._columns(names, 0)

    def batches(self, *names, size=0x2000):
        """As columns(), but yield such a dictionary for each SIZE events, so that the memory does
        not grow with the trace.
        """
        if size < 1:
            raise ValueError("size is not positive")
        while True:
            batch = self._columns(names, size)
            if not any(len(columns["Cpu"]) for columns in batch.values()):
                return
            yield batch


def open(path, *, order="time", tolerant=False):
    """Open a trace; "-" is the standard input. order: "time", or "file", which is faster. tolerant:
    a damaged file raises no DamageError after its events; trace.damage tells it.
    """
    return Trace(path, order=order, tolerant=tolerant)


def report(*paths, options=(), tool="ntklog", tolerant=False):
    """The tables of "ntklog report --json" as a dictionary, of one file or of many. options: list of
    more options for the command, such as "--stacks". tool: the program. tolerant: a damaged file
    raises no Error if a part of it could be read; the fields damaged_... tell it.
    """
    if isinstance(options, (str, bytes)):
        raise TypeError("options is not a list")
    command = [tool, "report", "--json", *options, "--", *map(os.fspath, paths)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode and not (tolerant and result.stdout):
        raise Error(result.stderr.decode("utf-8", "replace").strip() or
                    "%s ended with status %d" % (tool, result.returncode))
    return json.loads(result.stdout)
