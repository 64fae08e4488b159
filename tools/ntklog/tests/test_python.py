#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The Python package ntklog: what programs get from it about a file.

Usage: test_python.py NTKLOG PACKAGE

PACKAGE is the directory with the package. The tool is the oracle of the events and their fields.
"""

import json
import os
import random
import re
import subprocess
import sys
import textwrap

import etl_writer as etl
import tap
import tool
from python_case import PACKAGE, Python, run_python, ntklog

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "examples")
PAGE = os.path.join(HERE, "..", "..", "..", "Documentation", "etw", "python.rst")
SECOND = etl.START_CLOCK + etl.PERF_FREQ


def event_of_each_kind(bits=64):
    """Each kind of event with fields, in each version that the writer makes."""
    return [
        etl.ntklog_rundown(2, blockers=3), etl.ntklog_rundown(end=True),
        etl.spinlock_rundown(1, 2, 3, 4), etl.spinlock_rundown(end=True),
        etl.resource_rundown(5, 6, 7),
        etl.stacks_rundown(5), etl.stacks_rundown(0, end=True), etl.observed_event(0x20010000),
        etl.dropped_rundown(1, 2), etl.dropped_rundown(3, 4, end=True, steal=5),
        etl.perfinfo(0x0529, etl.spin_lock(bits, rule=1), bits=bits),
        etl.perfinfo(0x0529, etl.spin_lock(bits, flags=0xC5, rule=77, release=1001), bits=bits),
        etl.perfinfo(0x052B, etl.resource_data(bits), bits=bits),
        etl.perfinfo(0x052B, etl.resource_data(bits, action=0x12345), bits=bits),
        *(etl.linux_lock_event(kind, bits=bits) for kind in etl.LINUX_KINDS),
        *(etl.perfinfo(0x0524, etl.context_swap_data(version), version)
          for version in (1, 2, 3, 4)),
        etl.perfinfo(0x0532, etl.ready_thread_data(flags=5)),
        etl.caller_event(0x10, 0xFFFFFFFF81000000), etl.caller_event(0x10, 0x20, {"hold_ready": 5}),
        etl.block_stack_event(0x10, 9, [1, 2, 3]),
        etl.open_hold_event(SECOND),
        etl.open_hold_event(SECOND, "waits", "rwsem", (4, 5), address=0x40),
    ]


class Events(Python):
    def compare_with_dump(self):
        dumped = self.dump_events()
        with self.open_trace() as trace:
            events = list(trace)
        self.assertEqual([event.name for event in events], [line["Event"] for line in dumped])
        for event, line in zip(events, dumped):
            self.assertAlmostEqual(event.time, line["Time"], 9)
            self.assertEqual(event.cpu, line["Cpu"])
            for field, value in dict(event).items():
                self.check_field(value, line.pop(field), field)
            for ours, theirs in (("process_id", "ProcessId"), ("thread_id", "ThreadId"),
                                 ("opcode", "Opcode"), ("level", "Level"), ("id", "Id"),
                                 ("provider", "Provider")):
                value = getattr(event, ours)
                # The tool prints the version of the event below, and only of unknown events.
                if theirs in line or value is not None:
                    self.assertEqual(value, line.pop(theirs, value), event)
            if event.hook_id is not None and "HookId" in line:
                self.check_field(event.hook_id, line.pop("HookId"), "HookId")
            self.assertEqual(line.pop("Size", event.size), event.size)
            if "Version" in line:
                self.assertEqual(line.pop("Version"), event.version)
            # The tool shows the stack of an event with the event.
            for known in "Time", "Cpu", "Event", "ProviderGuid", "HeaderType", "Stack":
                line.pop(known, None)
            self.assertEqual({field for field in line if not field.endswith("Symbol")}, set())
        return events

    def test_each_event_has_the_fields_that_the_tool_prints(self):
        for bits in 64, 32:
            with self.subTest(bits=bits):
                self.write(etl.file(*event_of_each_kind(bits), bits=bits))
                names = {event.name for event in self.compare_with_dump()}
                # The writer has no ResourceDCEnd, whose fields are those of ResourceDCStart.
                self.assertEqual({name for name, *_ in ntklog._etl.TYPES} - names,
                                 {"ResourceDCEnd"})

    def test_events_without_known_fields_have_their_header(self):
        self.write(etl.file(etl.process_event(7, "a.exe"),
                            etl.process_event(7, "a.exe", system_header=True),
                            etl.thread_event(9, 7), etl.image_id_event(0x1000, 0x2000, "x.sys"),
                            etl.wpp_event(3, 0x12, bytes(24)), etl.perfinfo(0x0777, b"abc")))
        events = self.compare_with_dump()
        self.assertEqual([dict(event) for event in events], [{}] * len(events))
        self.assertEqual(events[-1].data, b"abc")
        self.assertIsNone(events[-1].process_id)

    def test_stacks_have_their_addresses(self):
        self.write(etl.file(
            etl.perfinfo(0x0529, etl.spin_lock()), etl.stack_event(SECOND, [0xFFFFFFFF81000000, 5]),
            etl.stack_event(SECOND, [77], hook_id=0x1825), etl.stack_definition_event(77, [1, 2])))
        with self.open_trace() as trace:
            found = [dict(event) for event in trace if event.name.startswith("Stack")]
        self.assertEqual(found, [
            {"EventTimeStamp": SECOND, "StackProcess": 54, "StackThread": 55,
             "Stack": (0xFFFFFFFF81000000, 5)},
            {"EventTimeStamp": SECOND, "StackProcess": 54, "StackThread": 55, "StackKey": 77},
            {"StackKey": 77, "Stack": (1, 2)}])

    def test_events_have_counters_and_mark_impossible_times(self):
        self.write(etl.file(
            etl.perfinfo(0x0529, (7).to_bytes(8, "little") + etl.spin_lock(), extended=1),
            etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=2**63)))
        with self.open_trace(tolerant=True) as trace:
            first, second = list(trace)[-2:]
        self.assertEqual(first.counters, (7,))
        self.assertFalse(first.has_wrong_time)
        self.assertTrue(second.has_wrong_time)
        self.assertEqual((second.raw_time, second.time), (2**63, first.time))

    def test_order_is_that_of_time_or_of_the_file(self):
        early, late = (etl.perfinfo(0x0529, etl.spin_lock(thread=stamp), time_stamp=SECOND + stamp)
                       for stamp in (1, 2))
        self.write(etl.header_buffer(3) + etl.buffer([late], processor=1) +
                   etl.buffer([early], sequence=2))
        for options, order in (({}, [1, 2]), ({"order": "time"}, [1, 2]),
                               ({"order": "file"}, [2, 1])):
            with self.open_trace(**options) as trace:
                self.assertEqual([event["ThreadId"] for event in trace
                                  if event.name == "SpinLock"], order)
            with self.open_trace(**options) as trace:
                self.assertEqual(list(trace.columns()["SpinLock"]["ThreadId"]), order)

    def test_trace_has_the_fields_of_the_file_header(self):
        self.write(etl.file())
        trace = self.open_trace()
        trace.close()
        self.assertTrue(trace.closed)
        self.assertEqual((trace.path, trace.buffer_size, trace.pointer_size, trace.processors,
                          trace.start_clock, trace.perf_freq, trace.events_lost),
                         (self.path, etl.SIZE, 8, 2, etl.START_CLOCK, etl.PERF_FREQ, 0))

    def test_wrong_names_raise_errors_that_name_them(self):
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock())))
        with self.open_trace() as trace:
            event = list(trace)[-1]
        with self.assertRaises(KeyError):
            event["Moon"]
        with self.assertRaises(TypeError):
            event[0]
        with self.assertRaises(ValueError):
            self.open_trace(order="moon")
        with self.assertRaises(TypeError):
            ntklog.Event()
        self.assertRegex(repr(event), r"^<ntklog\.Event SpinLock at 1\.0+ on CPU 0>$")


class Columns(Python):
    def check_columns(self):
        """Compare the columns with the events."""
        with self.open_trace() as trace:
            tables = trace.columns()
        with self.open_trace() as trace:
            events = [event for event in trace if event.name in tables]
        self.assertEqual({event.name for event in events}, set(tables))
        for name, columns in tables.items():
            rows = [event for event in events if event.name == name]
            if name != "ContextSwap":
                self.assertEqual([event.time for event in rows], list(columns["Time"]))
            self.assertEqual(sorted(event.version for event in rows), sorted(columns["Version"]))
            # The rows of a layout follow each other: version 1 is the first one.
            rows.sort(key=lambda event: event.version != 1)
            for field in columns:
                if field in ("Time", "TimeStamp", "Cpu", "Version"):
                    continue
                for event, value in zip(rows, columns[field], strict=True):
                    names = ntklog.SYMBOLS.get(name, {}).get(field, {})
                    value = names.get(int(value), value)
                    self.assertEqual(dict(event).get(field, 0), value, field)
        return tables

    def test_columns_have_the_values_of_the_events(self):
        for bits in 64, 32:
            with self.subTest(bits=bits):
                self.write(etl.file(*event_of_each_kind(bits), bits=bits))
                self.check_columns()

    def test_columns_are_numpy_arrays(self):
        self.write(etl.file(*event_of_each_kind()))
        columns = self.check_columns()["SpinLock"]
        self.assertEqual({column: values.dtype.str for column, values in columns.items()
                          if column in ("Time", "Cpu", "SpinLockAddress", "Irql")},
                         {"Time": "<f8", "Cpu": "<u4", "SpinLockAddress": "<u8", "Irql": "|u1"})
        self.assertEqual(len(columns), len(list(columns)))
        with self.assertRaises(KeyError):
            columns["Moon"]

    def test_field_that_one_layout_lacks_keeps_its_type(self):
        swaps = {version: etl.perfinfo(0x0524, etl.context_swap_data(version), version)
                 for version in (1, 4)}
        kinds = {}
        for versions in (1,), (4,), (1, 4), (4, 1):
            self.write(etl.file(*(swaps[version] for version in versions)))
            with self.open_trace() as trace:
                columns = trace.columns()["ContextSwap"]
            for name, values in columns.items():
                self.assertEqual(values.dtype, kinds.setdefault(name, values.dtype), name)
                self.assertEqual(len(values), len(versions))
        self.assertIn("i", {kind.kind for kind in kinds.values()})

    def test_without_numpy_columns_are_lists(self):
        self.write(etl.file(*event_of_each_kind()))
        result = run_python("""
import json, sys
sys.modules["numpy"] = None
import ntklog
with ntklog.open(sys.argv[1]) as trace:
    tables = trace.columns()
with ntklog.open(sys.argv[1]) as trace:
    assert trace.columns("ReadyThread", "ResourceDCEnd")["ResourceDCEnd"]["Cpu"] == []
with ntklog.open(sys.argv[1]) as trace:
    for name, columns in trace.columns(fields=["Time", "WaitTime", "Irql"]).items():
        for field in columns:
            assert columns[field] == tables[name][field]
json.dump({name: dict(columns) for name, columns in tables.items()}, sys.stdout)
""", self.path)
        self.assertEqual(result.stderr, "")
        lists = json.loads(result.stdout)
        with self.open_trace() as trace:
            arrays = trace.columns()
        self.assertEqual(lists, {name: {field: values.tolist() for field, values in columns.items()}
                                 for name, columns in arrays.items()})

    def test_events_are_chosen_by_name(self):
        self.write(etl.file(*event_of_each_kind()))
        with self.open_trace() as trace:
            tables = trace.columns("Resource", "ResourceDCEnd")
        self.assertEqual(list(tables), ["Resource", "ResourceDCEnd"])
        self.assertEqual([len(columns["HoldTime" if name == "Resource" else "Cpu"])
                          for name, columns in tables.items()], [8, 0])
        self.assertEqual(len(tables["ResourceDCEnd"]["Time"]), 0)
        with self.open_trace() as trace, self.assertRaisesRegex(ValueError, '"Moon"'):
            trace.columns("Moon")
        with self.open_trace() as trace, self.assertRaises(TypeError):
            trace.columns(7)

    def test_chosen_fields_have_the_values_of_all_fields(self):
        """Fields of all sizes, masks, differences, versions and layouts, one by one and together."""
        for bits in 64, 32:
            self.write(etl.file(*event_of_each_kind(bits), bits=bits))
            with self.open_trace() as trace:
                tables = trace.columns()
            names = sorted({field for columns in tables.values() for field in columns})
            for fields in ([name] for name in names), (names, names[::3], names[1::3]):
                for chosen in fields:
                    with self.open_trace() as trace:
                        found = trace.columns(fields=chosen)
                    with self.open_trace() as trace:
                        (batch,) = trace.batches(fields=chosen)
                    self.assertLessEqual(set(found), set(tables))
                    for name, columns in tables.items():
                        wanted = [field for field in columns if field in chosen]
                        for table in found, batch:
                            self.assertEqual(list(table.get(name, ())), wanted)
                            for field in wanted:
                                self.assertEqual(table[name][field].dtype, columns[field].dtype)
                                self.assertEqual(table[name][field].tolist(),
                                                 columns[field].tolist(), field)

    def test_chosen_fields_take_less_memory(self):
        self.write(etl.file(*[etl.perfinfo(0x0529, etl.spin_lock())] * 3))
        with self.open_trace() as trace:
            columns = trace.columns("SpinLock", fields=["Irql", "SpinCount"])["SpinLock"]
        self.assertEqual(columns["SpinCount"].strides, (8,))
        with self.assertRaises(KeyError):
            columns["ThreadId"]

    def test_field_outside_of_a_record_is_refused(self):
        """Programs do not call this, but nothing that Python can say may read other memory."""
        self.write(etl.file(*event_of_each_kind()))
        for piece in (0xFFFF, 8, 0), (16, 0xFFFF, 0), (12, 8, 0), (0, 8, 0xFFFF):
            with self.open_trace() as trace, self.assertRaises(ValueError):
                trace.records((), 0, (((piece,), (piece,)),) * len(ntklog.TYPES))

    def test_fields_that_no_event_has_are_refused(self):
        self.write(etl.file(*event_of_each_kind()))
        for names, fields in ((), ["Moon"]), (["Resource"], ["SpinCount"]), ((), []):
            with self.open_trace() as trace, self.assertRaises(ValueError):
                trace.columns(*names, fields=fields)

    def test_batches_have_all_events_in_parts(self):
        self.write(etl.long_file([etl.perfinfo(0x0529, etl.spin_lock(thread=number))
                                  for number in range(100)]))
        for size in 1, 7, 100, 1000:
            with self.open_trace() as trace:
                batches = [list(batch["SpinLock"]["ThreadId"])
                           for batch in trace.batches(size=size)]
            self.assertEqual(sum(batches, []), list(range(100)))
            self.assertEqual(max(map(len, batches)), min(size, 100))
        with self.open_trace() as trace, self.assertRaises(ValueError):
            next(trace.batches(size=0))
        with self.open_trace() as trace:
            self.assertEqual(list(trace.batches("Resource")), [])


class Damage(Python):
    def read_events(self, **options):
        with self.open_trace(**options) as trace:
            return list(trace)

    def test_damage_is_an_exception_after_the_events(self):
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock()), etl.perfinfo(0x0529, b"short"),
                            etl.perfinfo(0x0529, etl.spin_lock())))
        with self.open_trace() as trace:
            found = [next(trace) for _ in range(5)]
            self.assertEqual([event.name for event in found[3:]], ["SpinLock", "SpinLock"])
            with self.assertRaisesRegex(ntklog.DamageError, self.path + ": offset 0x1090: "
                                        "SpinLock event with 0x5 bytes"):
                next(trace)
            with self.assertRaises(StopIteration):
                next(trace)
            self.assertEqual(trace.damaged_events, 1)
        with self.open_trace() as trace, self.assertRaises(ntklog.DamageError):
            trace.columns()
        with self.open_trace() as trace:
            batches = trace.batches("SpinLock", size=1)
            self.assertEqual(len([next(batches) for _ in range(2)]), 2)
            with self.assertRaises(ntklog.DamageError):
                next(batches)
        with self.open_trace(tolerant=True) as trace:
            self.assertEqual(len(trace.columns()["SpinLock"]["Cpu"]), 2)
            self.assertIn("SpinLock event with 0x5 bytes", trace.damage)
        self.assertEqual(len(self.read_events(tolerant=True)), 5)

    def test_record_of_impossible_times_is_damage(self):
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(acquire=0, release=2 ** 62))))
        self.assertEqual(len(self.read_events(tolerant=True)), 3)
        with self.assertRaisesRegex(ntklog.DamageError, "times are impossible"):
            self.read_events()

    def test_damaged_stacks_are_left_out(self):
        self.write(etl.file(etl.stack_event(SECOND, []), etl.stack_event(SECOND, [1])))
        self.assertEqual(len(self.read_events(tolerant=True)), 4)
        with self.assertRaisesRegex(ntklog.DamageError, "stack with 0 addresses"):
            self.read_events()

    def test_missing_buffers_are_damage(self):
        self.write(etl.header_buffer(3) + etl.buffer([], sequence=1) + etl.buffer([], sequence=3))
        with self.assertRaisesRegex(ntklog.DamageError, "1 buffers are missing"):
            self.read_events()

    def test_files_that_cannot_be_opened_raise_errors(self):
        with self.assertRaisesRegex(ntklog.Error, "/nonexistent: No such file or directory"):
            ntklog.open("/nonexistent")
        self.write(b"MZ" + bytes(0x2000))
        with self.assertRaisesRegex(ntklog.Error, "not an ETL file"):
            self.open_trace()
        with self.assertRaises(TypeError):
            ntklog.open(7)
        with self.assertRaises(ValueError):
            ntklog.open("a\0b")

    def test_truncated_and_damaged_files_never_crash(self):
        """Events, columns and their damage are read in a process of their own."""
        data = etl.header_buffer(3) + etl.buffer(event_of_each_kind()) + etl.buffer(
            [etl.stack_event(SECOND, [1, 2]), etl.stack_event(SECOND, [77], hook_id=0x1825),
             etl.wpp_event(3, 0x12, bytes(24)), etl.image_id_event(0x1000, 0x2000, "x.sys")],
            sequence=2)
        generator = random.Random(1)
        paths = []
        for number in range(400):
            bad = bytearray(data)
            if number % 4:
                for _ in range(generator.choice((1, 4, 40))):
                    bad[generator.randrange(len(bad))] = generator.randrange(256)
            else:
                del bad[generator.randrange(len(bad)):]
            paths.append(os.path.join(self.directory.name, "%d.etl" % number))
            with open(paths[-1], "wb") as stream:
                stream.write(bad)
        result = run_python("""
import sys, ntklog
good = bad = 0
def read_all_members(event):
    repr(event), dict(event), event.data, event.counters, event.provider, event.version
    for name in dir(event):
        getattr(event, name)
for path in sys.argv[1:]:
    for order in "time", "file":
        for tolerant in False, True:
            try:
                with ntklog.open(path, order=order, tolerant=tolerant) as trace:
                    for event in trace:
                        read_all_members(event)
                with ntklog.open(path, order=order, tolerant=tolerant) as trace:
                    for columns in trace.columns().values():
                        dict(columns)
                good += 1
            except ntklog.Error:
                bad += 1
print(good, bad)
""", *paths)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        good, bad = map(int, result.stdout.split())
        self.assertEqual(good + bad, 4 * len(paths))
        self.assertGreater(good, 100)
        self.assertGreater(bad, 100)


class Lifetime(Python):
    def test_events_and_columns_outlive_the_trace(self):
        self.write(etl.file(*event_of_each_kind()))
        with self.open_trace() as trace:
            events = list(trace)
        with self.open_trace() as trace:
            columns = trace.columns()["SpinLock"]
        before = [(event.name, event.data, dict(event)) for event in events]
        addresses = columns["SpinLockAddress"]
        os.unlink(self.path)
        del trace
        self.assertEqual([(event.name, event.data, dict(event)) for event in events], before)
        del columns
        self.assertEqual(list(addresses), 2 * [0xFFFF888012345678])

    def test_closed_trace_cannot_be_read(self):
        self.write(etl.file(*event_of_each_kind()))
        trace = self.open_trace()
        next(trace)
        trace.close()
        trace.close()
        for read in (lambda: next(trace), trace.columns, lambda: next(trace.batches())):
            with self.assertRaisesRegex(ValueError, "closed"):
                read()
        self.assertEqual(trace.perf_freq, etl.PERF_FREQ)

    def test_files_are_closed(self):
        self.write(etl.file(*event_of_each_kind()))
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            next(self.open_trace())
            with self.assertRaises(ntklog.Error):
                ntklog.open("/nonexistent")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_memory_does_not_grow(self):
        """Neither with the events of a file, nor with the files and the exceptions."""
        self.write(etl.long_file([etl.perfinfo(0x0529, etl.spin_lock())] * 40 * 4000))
        small = os.path.join(self.directory.name, "small.etl")
        with open(small, "wb") as stream:
            stream.write(etl.file(*event_of_each_kind(), etl.perfinfo(0x0529, b"short")))
        result = run_python("""
import resource, sys, ntklog
def peak_memory_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def read_small_file():
    for tolerant in True, False:
        try:
            with ntklog.open(sys.argv[2], tolerant=tolerant) as trace:
                for event in trace:
                    dict(event), event.name, event.data, repr(event), event.provider
            with ntklog.open(sys.argv[2], tolerant=tolerant) as trace:
                for columns in trace.columns().values():
                    dict(columns)
        except ntklog.DamageError:
            pass
        try:
            ntklog.open(sys.argv[2], tolerant=tolerant).columns("Moon")
        except ValueError:
            pass
for _ in range(100):
    read_small_file()
with ntklog.open(sys.argv[1]) as trace:
    next(trace), next(trace.batches())
before = peak_memory_kib()
with ntklog.open(sys.argv[1]) as trace:
    events = sum(1 for event in trace)
with ntklog.open(sys.argv[1]) as trace:
    records = sum(len(batch["SpinLock"]["Cpu"]) for batch in trace.batches())
for _ in range(1000):
    read_small_file()
print(events, records, peak_memory_kib() - before)
""", self.path, small)
        self.assertEqual(result.stderr, "")
        events, records, growth = map(int, result.stdout.split())
        self.assertEqual((events, records), (160003, 160000))
        # KiB. The file has 16 MiB.
        self.assertLess(growth, 4096)


class Report(Python):
    def test_report_is_that_of_the_tool(self):
        self.write(etl.file(*event_of_each_kind()))
        other = os.path.join(self.directory.name, "b.etl")
        with open(other, "wb") as stream:
            stream.write(etl.file(*event_of_each_kind()))
        for paths in (self.path,), (self.path, other):
            self.assertEqual(ntklog.report(*paths, options=["--top", "3"], tool=tool.NTKLOG),
                             json.loads(tool.run_tool("report", "--json", "--top", "3",
                                                      *paths).stdout))

    def test_failure_of_the_tool_is_an_exception(self):
        with self.assertRaisesRegex(ntklog.Error, "/nonexistent"):
            ntklog.report("/nonexistent", tool=tool.NTKLOG)
        with self.assertRaises(FileNotFoundError):
            ntklog.report(self.path, tool="/nonexistent/ntklog")
        with self.assertRaises(TypeError):
            ntklog.report(self.path, options="--stacks", tool=tool.NTKLOG)

    def test_tolerant_report_of_a_damaged_file_has_what_could_be_read(self):
        self.write(etl.header_buffer(3) + etl.buffer(event_of_each_kind(), sequence=1) +
                   etl.buffer([], sequence=3))
        with self.assertRaisesRegex(ntklog.Error, "1 buffers are missing"):
            ntklog.report(self.path, tool=tool.NTKLOG)
        report = ntklog.report(self.path, tool=tool.NTKLOG, tolerant=True)
        self.assertEqual((report["buffers_missing"], len(report["locks"])), (1, 1))
        with self.assertRaises(ntklog.Error):
            ntklog.report("/nonexistent", tool=tool.NTKLOG, tolerant=True)


class Page(Python):
    """Documentation/etw/python.rst"""

    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as stream:
            self.text = stream.read()

    def names_between(self, first, last):
        part = self.text.partition(first)[2].partition(last)[0]
        return set(re.findall(r"``(\w+)``", part))

    @staticmethod
    def attributes_of(kind):
        return {name for name in dir(kind) if not name.startswith("_") and
                not callable(getattr(kind, name))}

    def test_attributes_are_those_of_the_page(self):
        self.assertEqual(self.names_between("\nA trace has ", "They stay"),
                         self.attributes_of(ntklog.Trace))
        table = re.findall(r"(?m)^``.*?(?:  |$)", self.text.partition("\nattribute ")[2].partition(
            "\nA StackWalk event")[0])
        self.assertEqual(set(re.findall(r"\w+", " ".join(table))), self.attributes_of(ntklog.Event))
        for name in "EventTimeStamp", "StackProcess", "StackThread", "Stack", "StackKey":
            self.assertIn("``%s``" % name, self.text)

    def test_trace_stays_known_after_it_is_closed(self):
        self.write(etl.file(*event_of_each_kind()))
        with self.open_trace() as trace:
            before = {name: getattr(trace, name) for name in self.attributes_of(ntklog.Trace)}
        before["closed"] = True
        self.assertEqual({name: getattr(trace, name) for name in before}, before)

    def test_first_program_of_the_page_runs(self):
        self.write(etl.file(*event_of_each_kind()))
        os.rename(self.path, os.path.join(self.directory.name, "trace.etl"))
        os.symlink(os.path.abspath(tool.NTKLOG), os.path.join(self.directory.name, "ntklog"))
        program = textwrap.dedent(re.search(r"(?m)^\timport ntklog\n(?:\t.*\n|\n)+", self.text)[0])
        result = run_python(program, cwd=self.directory.name, env={
            **os.environ, "PYTHONPATH": PACKAGE,
            "PATH": self.directory.name + ":" + os.environ["PATH"]})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\n[\d.e-]+ seconds\n\{'lock': ")


class Examples(Python):
    def run_example(self, name, *arguments):
        result = subprocess.run([sys.executable, os.path.join(EXAMPLES, name), *arguments],
                                env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_example_of_waits_prints_their_sums(self):
        self.write(etl.file(*(etl.perfinfo(0x0529, etl.spin_lock(address=lock, wait=wait))
                              for lock, wait in ((1, 2000), (2, 6000), (1, 1000)))))
        self.assertEqual(self.run_example("waits.py", self.path).split(),
                         ["0x2", "3000000", "ns", "0x1", "1500000", "ns"])

    def test_example_of_sqlite_writes_all_events(self):
        import sqlite3    # pylint: disable=import-outside-toplevel
        self.write(etl.file(*event_of_each_kind()))
        output = os.path.join(self.directory.name, "a.db")
        self.run_example("to_sqlite.py", self.path, output)
        database = sqlite3.connect(output)
        self.assertEqual(database.execute(
            "SELECT max(WaitTimeInCycles), count(*), min(Rule) FROM SpinLock").fetchall(),
            [(303, 2, 77)])
        self.assertEqual(database.execute("SELECT count(*), count(OldThreadQuantum), "
                                          "count(PreviousCState) FROM ContextSwap").fetchall(),
                         [(4, 1, 3)])
        self.assertEqual(database.execute(
            "SELECT printf('%x', Resource) FROM Resource LIMIT 1").fetchall(),
            [("ffff888012345678",)])
        database.close()


if __name__ == "__main__":
    tap.main()
