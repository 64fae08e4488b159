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
# Columns that need those of the head.
MADE_OF = {"Time": "TimeStamp", **{name: name for name in HEAD}}

# Names of values, by event and field: SYMBOLS["Resource"]["Action"][0x80010022].
SYMBOLS = {}
for _name, *_layouts in TYPES:
    for _field in _layouts[1][1]:
        if _field[-1]:
            SYMBOLS.setdefault(_name, {}).setdefault(_field[0], {}).update(_field[-1])


def _unpack_numbers(data, record_size, at, size, signed=False):
    """The numbers at one place of all records."""
    count = len(data) // record_size
    if numpy:
        kind = "<%s%d" % ("i" if signed else "u", size)
        return numpy.ndarray(count, kind, data, at, record_size) if count else \
            numpy.zeros(0, kind)
    code = CODES[size].lower() if signed else CODES[size]
    form = struct.Struct("<%dx%s%dx" % (at, code, record_size - at - size))
    return [value for value, in form.iter_unpack(data)]


class _Layout:
    """Where the numbers of a record are.

    size: bytes of a record; head: as HEAD; fields: as in TYPES; pieces: places of the numbers in the
    whole record, sizes, and places in this one; empty: this is the whole record
    """

    def __init__(self, size, fields):
        self.size, self.head, self.fields, self.pieces = size, HEAD, fields, ()

    def choose(self, names):
        """The layout of records that have only what the columns of these names need."""
        fields = [field for field in self.fields if field[0] in names]
        places = {HEAD[MADE_OF[name]] for name in names if name in MADE_OF}
        for _, at, size, minus_at, minus_size, _, _, _, version, _ in fields:
            places |= {(at, size)} | ({(minus_at, minus_size)} if minus_size else set()) | \
                ({HEAD["Version"]} if version else set())
        # A record has a size even if other layouts of the event have the fields. Large numbers come
        # first, so that all are aligned.
        places = sorted(places or {HEAD["Version"]}, key=lambda place: (-place[1], place[0]))
        moved, end = {}, 0
        for place in places:
            moved[place] = end
            end += place[1]
        made = _Layout(-(-end // places[0][1]) * places[0][1], [
            (name, moved[at, size], size, moved[minus_at, minus_size] if minus_size else 0,
             minus_size, *rest) for name, at, size, minus_at, minus_size, *rest in fields])
        made.head = {name: (moved[place], place[1]) for name, place in HEAD.items()
                     if place in moved}
        made.pieces = tuple((*place, moved[place]) for place in places)
        return made


# The layouts of the types, of 4-byte and of 8-byte pointers.
LAYOUTS = [tuple(_Layout(*layout) for layout in layouts) for _, *layouts in TYPES]


def _choose_layouts(names, fields):
    """The names of events that have one of the fields, LAYOUTS with these only, and the fields."""
    if fields is None:
        return names, LAYOUTS, fields
    if isinstance(fields, (str, bytes)):
        raise TypeError("fields is not a list")
    fields = frozenset(fields)
    has = [name for name, _, (_, known) in TYPES
           if fields & {*MADE_OF, *(field[0] for field in known)}]
    missing = fields.difference(MADE_OF, *([field[0] for field in known]
                                           for name, _, (_, known) in TYPES
                                           if name in (names or has)))
    if missing or not has or any(name not in has for name in names):
        raise ValueError("no event has the field %s" % ", ".join(map(repr, missing))
                         if missing else "an event has none of the fields")
    return names or tuple(dict.fromkeys(has)), \
        [tuple(layout.choose(fields) for layout in pair) for pair in LAYOUTS], fields


class Columns(collections.abc.Mapping):
    """The columns of the events of one name: numpy arrays, or lists if there is no numpy.

    A column is made when it is first asked for.
    """

    def __init__(self, trace, parts, wanted):
        """parts: for each layout of the event, (layout, bytearray of records). wanted: names of the
        columns; None: all.
        """
        self._start, self._frequency = trace.start_clock, trace.perf_freq
        self._parts, self._made = parts, {}
        self._names = [name for name in MADE_OF if wanted is None or name in wanted]
        for layout, _ in parts:
            self._names += [field[0] for field in layout.fields if field[0] not in self._names]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._seconds() if name == "Time" else self._values_of_field(name)
        return self._made[name]

    def __repr__(self):
        return "<ntklog.Columns of %d events: %s>" % (self._row_count(), ", ".join(self._names))

    def _row_count(self):
        return sum(len(data) // layout.size for layout, data in self._parts)

    def _values_of_field(self, name):
        return self._join_layouts([self._unpack_field(name, *part) for part in self._parts])

    def _seconds(self):
        stamps = self._values_of_field("TimeStamp")
        if numpy:
            return (stamps - numpy.uint64(self._start)).view("i8") / self._frequency
        return [(stamp - self._start) / self._frequency for stamp in stamps]

    def _join_layouts(self, columns):
        """columns: one for each layout; None for a layout that lacks the field."""
        if len(columns) == 1:
            return columns[0]
        counts = [len(data) // layout.size for layout, data in self._parts]
        if not numpy:
            return sum(([0] * count if column is None else column
                        for column, count in zip(columns, counts)), [])
        # Zeros of another type would make the numbers of the whole column floating.
        kind = numpy.result_type(*(column for column in columns if column is not None))
        return numpy.concatenate([numpy.zeros(count, kind) if column is None else column
                                  for column, count in zip(columns, counts)])

    @staticmethod
    def _unpack_field(name, layout, data):
        record_size = layout.size
        if name in HEAD:
            return _unpack_numbers(data, record_size, *layout.head[name])
        found = [field for field in layout.fields if field[0] == name]
        if not found:
            return None
        _, at, size, minus_at, minus_size, mask, shift, signed, version, _ = found[0]
        values = _unpack_numbers(data, record_size, at, size, signed)
        if minus_size:
            minus = _unpack_numbers(data, record_size, minus_at, minus_size)
            values = numpy.where(values > minus, values - minus, 0) if numpy else \
                [max(value - less, 0) for value, less in zip(values, minus)]
        if mask:
            values = (values & mask) >> shift if numpy else \
                [(value & mask) >> shift for value in values]
        if version:
            versions = _unpack_numbers(data, record_size, *layout.head["Version"])
            values = numpy.where(versions == version, values, 0) if numpy else \
                [value if has == version else 0 for value, has in zip(values, versions)]
        return values


class Trace(Reader):
    """An open trace, which can be read once: as events, or as columns."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read_columns(self, names, read, layouts, fields, limit):
        pieces = tuple(tuple(layout.pieces for layout in pair) for pair in layouts)
        parts = {name: [] for name in names}
        for index, pointer_size, data in self.records(read, limit, pieces):
            parts.setdefault(TYPES[index][0], []).append((layouts[index][pointer_size == 8], data))
        newest = {name: layout for (name, *_), (_, layout) in zip(TYPES, layouts)}
        return {name: Columns(self, found or [(newest[name], bytearray())], fields)
                for name, found in parts.items()}

    def columns(self, *names, fields=None):
        """Read all events that are left. Return a dictionary of the Columns of each name: of these
        names, or of all events with fields that the trace has. fields: names of the columns that
        are wanted, which takes less memory and time; only events that have one of them are read.
        """
        return self._read_columns(names, *_choose_layouts(names, fields), 0)

    def batches(self, *names, fields=None, size=0x2000):
        """As columns(), but yield such a dictionary for each SIZE events, so that the memory does
        not grow with the trace.
        """
        if size < 1:
            raise ValueError("size is not positive")
        chosen = _choose_layouts(names, fields)
        while True:
            batch = self._read_columns(names, *chosen, size)
            # pylint: disable-next=protected-access
            if not any(columns._row_count() for columns in batch.values()):
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
