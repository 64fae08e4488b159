#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog dump, from the outside: what it prints of the events that it knows."""

import csv
import io
import json
import os
import struct
import subprocess
import tempfile
import unittest

import etl_writer as etl
import tap
from tool import NTKLOG, dump, fields_of_line, run_tool, run_tool_on


class Known(unittest.TestCase):
    def check_spin_lock(self, bits, **changes):
        data = etl.file(etl.perfinfo(0x0529, etl.spin_lock(bits), bits=bits), bits=bits,
                        **changes)
        result, lines = dump(data)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[3][:3], ["1.000000000", "cpu0", "SpinLock"])
        wide = bits == 64
        self.assertEqual(fields_of_line(lines[3]), {
            "SpinLockAddress": "0xffff888012345678" if wide else "0x12345678",
            "CallerAddress": "0xffffffff81234567" if wide else "0x81234567",
            "AcquireTime": "1001", "ReleaseTime": "2002", "HoldTime": "500.500us",
            "WaitTime": "151.500us",
            "SpinCount": "44", "ThreadId": "55", "InterruptCount": "6", "Irql": "2",
            "AcquireDepth": "7", "AcquireMode": "queued", "ExecuteDpc": "1",
            "ExecuteIsr": "0", "Rule": "nt"})

    def test_spin_lock_of_a_64_bit_trace_is_printed(self):
        self.check_spin_lock(64)

    def test_spin_lock_of_a_32_bit_trace_is_printed(self):
        self.check_spin_lock(32)

    def test_32_bit_header_without_padding_is_read(self):
        self.check_spin_lock(32, padding=False)

    def test_hold_of_a_spin_lock_is_release_minus_acquisition(self):
        for acquire, release, hold in ((5, 5, "0"), (6, 5, "0"), (5, 2 ** 20, str(2 ** 20 - 5))):
            for bits in 32, 64:
                data = etl.file(etl.perfinfo(0x0529, etl.spin_lock(
                    bits, acquire=acquire, release=release), bits=bits), bits=bits)
                _, lines = dump(data, "--cycles")
                self.assertEqual(fields_of_line(lines[3])["HoldTime"], hold)
                line = run_tool_on("dump", data, "--json").stdout.splitlines()[3]
                # Readers of JSON lose the last digits of a number of 64 bits, which is text.
                self.assertEqual(str(json.loads(line)["HoldTime"]), hold)
                (row,) = list(csv.DictReader(io.StringIO(run_tool_on(
                    "dump", data, "--csv").stdout)))[3:]
                self.assertEqual(row["HoldTime"], hold)

    def test_durations_have_units(self):
        """Two million cycles are a second."""
        for cycles, text in (
                (0, "0ns"), (1, "500ns"), (2, "1.000us"), (1999, "999.500us"), (2000, "1.000ms"),
                (3001, "1.501ms"), (1999998, "999.999ms"), (1999999, "1.000s"),
                (2000000, "1.000s"), (123456789, "61.728s"), (2 ** 40, "549755.814s")):
            late = cycles + etl.START_CLOCK
            data = etl.header_buffer(2) + etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(
                acquire=0, release=cycles), time_stamp=late)], time_stamp=late)
            self.assertEqual(dump(data)[0].returncode, 0)
            self.assertEqual(fields_of_line(dump(data)[1][3])["HoldTime"], text)
            self.assertEqual(fields_of_line(dump(data, "--cycles")[1][3])["HoldTime"], str(cycles))
            line = run_tool_on("dump", data, "--json").stdout.splitlines()[3]
            self.assertEqual(json.loads(line)["HoldTime"], cycles)

    def test_wait_with_a_unit_is_not_called_cycles(self):
        data = etl.file(etl.perfinfo(0x0529, etl.spin_lock(wait=303)))
        for options, name, text in ((), "WaitTime", "151.500us"), \
                (("--cycles",), "WaitTimeInCycles", "303"):
            line = fields_of_line(dump(data, *options)[1][3])
            self.assertEqual({field: line[field] for field in line if "WaitTime" in field},
                             {name: text})

    def test_wait_time_that_is_no_duration_has_no_unit(self):
        """WaitTime of an excessive wait is the clock of its begin; 1 means that it is not known."""
        for action, wait, text in ((0x10022, 2000, "1.000ms"), (0x10224, 2000, "2000"),
                                   (0x80010244, 2000, "2000"), (0x10042, 1, "1"),
                                   (0x10042, 0, "0ns")):
            data = etl.file(etl.perfinfo(0x052B, etl.resource_data(action=action, wait=wait)))
            self.assertEqual(fields_of_line(dump(data)[1][3])["WaitTime"], text)

    def test_filter_takes_the_wait_so_far_of_an_excessive_wait(self):
        """Its record has that time as HoldTime, and the clock of its begin as WaitTime."""
        ms = etl.PERF_FREQ // 1000
        data = etl.file(etl.linux_lock_event("mutex", 0x224, hold=500 * ms, wait=etl.PERF_FREQ))
        for expression, printed in (("wait > 400ms", 1), ("wait > 600ms", 0), ("hold > 1ms", 0)):
            self.assertEqual(len(dump(data, "--filter", expression)[1]), printed, expression)

    def test_modes_and_contexts_have_names(self):
        names = ["ordinary", "queued", "executive_shared", "executive_exclusive",
                 "executive_converted", "5"]
        events = [etl.perfinfo(0x0529, etl.spin_lock(flags=mode | 0x80))
                  for mode in range(6)]
        _, lines = dump(etl.file(*events))
        self.assertEqual([fields_of_line(line)["AcquireMode"] for line in lines[3:]], names)
        self.assertEqual({fields_of_line(line)["ExecuteIsr"] for line in lines[3:]}, {"1"})
        self.assertEqual({fields_of_line(line)["ExecuteDpc"] for line in lines[3:]}, {"0"})

    def test_changes_of_observed_groups_are_printed(self):
        _, lines = dump(etl.file(etl.observed_event(0xA0000008), etl.observed_event(0x20010000, 0),
                                 etl.observed_event(0xE0000001)))
        self.assertEqual([(line[2], line[3]) for line in lines[3:]], [
            ("NtklogObserved", "Group=linux_rwsem Observed=1"),
            ("NtklogObserved", "Group=spinlock Observed=0"),
            ("NtklogObserved", "Group=3758096385 Observed=1")])

    def test_rules_of_spin_locks_have_names(self):
        names = ["nt", "sampled", "wait", "3", "nt_blocker", "blocker"]
        _, lines = dump(etl.file(*(etl.perfinfo(0x0529, etl.spin_lock(rule=rule))
                                   for rule in (0, 1, 2, 3, 4, 12))))
        self.assertEqual([fields_of_line(line)["Rule"] for line in lines[3:]], names)

    def test_mode_of_linux_locks_is_printed(self):
        _, lines = dump(etl.file(etl.ntklog_rundown(1), etl.ntklog_rundown(2, end=True)))
        self.assertEqual([line[2:] for line in lines[3:]],
                         [["NtklogDCStart", "LinuxMode=sampled Blockers=0"],
                          ["NtklogDCEnd", "LinuxMode=waits Blockers=0"]])

    def check_resource(self, bits, address):
        event = etl.perfinfo(0x052B, etl.resource_data(bits), bits=bits)
        result, lines = dump(etl.file(event, bits=bits))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(lines[3][2], "Resource")
        self.assertEqual(fields_of_line(lines[3]), {
            "AcquireTime": "1001", "HoldTime": "101.000us", "WaitTime": "151.500us",
            "MaxRecursionDepth": "44", "ThreadId": "55", "Resource": address,
            "Action": "release_exclusive", "ContentionDelta": "66"})

    def test_resource_of_a_64_bit_trace_is_printed(self):
        self.check_resource(64, "0xffff888012345678")

    def test_resource_of_a_32_bit_trace_is_printed(self):
        self.check_resource(32, "0x12345678")

    def test_actions_have_names(self):
        names = {0x10008: "initialize", 0x10018: "reinitialize",
                 0x10021: "acquire_exclusive", 0x10022: "release_exclusive",
                 0x10024: "wait_for_exclusive", 0x10031: "reacquire_exclusive",
                 0x10032: "release_reacquired_exclusive", 0x10041: "acquire_shared",
                 0x10042: "release_shared", 0x10044: "wait_for_shared",
                 0x10051: "reacquire_shared", 0x10052: "release_reacquired_shared",
                 0x10120: "owner_pointer_exclusive", 0x10140: "owner_pointer_shared",
                 0x10224: "wait_excessive_for_exclusive",
                 0x10244: "wait_excessive_for_shared", 0x20001: "131073"}
        _, lines = dump(etl.file(*(etl.perfinfo(0x052B, etl.resource_data(action=action))
                                   for action in names)))
        self.assertEqual([fields_of_line(line)["Action"] for line in lines[3:]],
                         list(names.values()))

    def test_actions_of_linux_locks_have_names_with_their_kind(self):
        """Linux' locks have four actions, named after the kind of lock."""
        halves = {0x22: "release_exclusive", 0x42: "release_shared",
                  0x224: "wait_excessive_for_exclusive", 0x244: "wait_excessive_for_shared"}
        names = {base | half: "%s_%s" % (kind, name) for kind, base in etl.LINUX_KINDS.items()
                 for half, name in halves.items()}
        names.update({action: str(action) for action in (
            0x80010008, 0x80020021, 0x80060120, 0x80070022, 0x80990022, 0x00020022, 0x22, 0x80000022,
            0xFFFF0022)})
        for bits in 32, 64:
            events = [etl.perfinfo(0x052B, etl.resource_data(bits, action=action), bits=bits)
                      for action in names]
            data = etl.file(*events, bits=bits)
            _, lines = dump(data)
            self.assertEqual([fields_of_line(line)["Action"] for line in lines[3:]],
                             list(names.values()))
            rows = [json.loads(line) for line in run_tool_on("dump", data,
                                                             "--json").stdout.splitlines()]
            self.assertEqual([row["Action"] for row in rows[3:]], list(names.values()))
            rows = csv.DictReader(io.StringIO(run_tool_on("dump", data, "--csv").stdout))
            self.assertEqual([row["Action"] for row in rows][3:], list(names.values()))

    def test_filters_select_kinds(self):
        data = etl.file(*(etl.linux_lock_event(kind, action) for kind in etl.LINUX_KINDS
                          for action in (0x22, 0x42)),
                        etl.perfinfo(0x052B, etl.resource_data()),
                        etl.perfinfo(0x0529, etl.spin_lock()),
                        *3 * [etl.perfinfo(0x052B, etl.resource_data(action=0x80990022))])
        for expression, expected in (
                *(("kind == " + kind, 2) for kind in etl.LINUX_KINDS), ("kind == resource", 1),
                ("KIND == Mutex", 2), ("kind ~ mutex", 6), ("kind != mutex", 14),
                ("kind == 0x80010000", 2), ("kind == 0x80990000", 3), ("kind >= 0x80000000", 15),
                ("kind == mutex && Action ~ exclusive", 1),
                ("Action == mutex_release_shared", 1), ("Action == release_exclusive", 1),
                ("kind == rwsem && hold == 101us && wait > 151us && thread == 55", 2),
                ("lock == 0xffff888012345678 && kind == percpu_rwsem", 2)):
            result, lines = dump(data, "--filter", expression)
            self.assertEqual((result.returncode, len(lines)), (0, expected), expression)

    def test_context_swaps_of_all_versions_are_printed(self):
        common = {"NewThreadId": "11", "OldThreadId": "22", "NewThreadPriority": "8",
                  "OldThreadPriority": "-1", "OldThreadWaitReason": "user_request",
                  "OldThreadWaitMode": "user", "OldThreadState": "waiting",
                  "OldThreadIdealProcessor": "7"}
        later = {"PreviousCState": "3", "SpareByte": "0", "NewThreadWaitTime": "99",
                 "OldThreadRemainingQuantum": "-123456"}
        own = {1: {"NewThreadQuantum": "3", "OldThreadQuantum": "0"}, 2: later,
               3: {**later, "OldThreadBamEppImportant": "0", "NewThreadBamEppImportant": "1"},
               4: {**later, "OldThreadBamQosLevel": "4", "NewThreadBamQosLevel": "3"}}
        for version in own:
            flags = {1: 1, 2: 1, 3: 0x05, 4: 0x39}[version]
            for bits in 32, 64:
                event = etl.perfinfo(0x0524, etl.context_swap_data(version, flags), version, bits)
                result, lines = dump(etl.file(event, bits=bits))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(lines[3][2], "ContextSwap")
                self.assertEqual(fields_of_line(lines[3]), {**common, **own[version]})

    def test_rundown_events_are_printed(self):
        spin = struct.pack("<IIII", 1, 2, 3000, 4000000)
        resource = struct.pack("<III", 1000, 1, 5)
        _, lines = dump(etl.file(etl.perfinfo(0x0F4B, spin, version=3),
                                 etl.perfinfo(0x0F4C, spin, version=3),
                                 etl.perfinfo(0x0F4D, resource),
                                 etl.perfinfo(0x0F4E, resource)))
        self.assertEqual([line[2] for line in lines[3:]],
                         ["SpinLockDCStart", "SpinLockDCEnd",
                          "ResourceDCStart", "ResourceDCEnd"])
        for line in lines[3:5]:
            self.assertEqual(fields_of_line(line), {
                "SpinThreshold": "1", "ContentionSampleRate": "2",
                "AcquireSampleRate": "3000", "HoldThreshold": "2.000s"})
        for line in lines[5:]:
            self.assertEqual(fields_of_line(line), {
                "ReleaseSamplingRate": "1000", "ContentionSamplingRate": "1",
                "NumberOfExcessiveTimeouts": "5"})

    def test_extended_items_are_stepped_over(self):
        # Two counters and a PEBS index stand before the data.
        event = etl.perfinfo(0x0529, bytes(24) + etl.spin_lock(), extended=0x82)
        _, lines = dump(etl.file(event))
        self.assertEqual(fields_of_line(lines[3])["AcquireTime"], "1001")


    def test_extended_items_are_shown(self):
        event = etl.perfinfo(0x0529, struct.pack("<QQQ", 7, 8, 9) + etl.spin_lock(),
                             extended=0x82)
        _, lines = dump(etl.file(event))
        shown = fields_of_line(lines[3])
        self.assertEqual((shown["Pmc0"], shown["Pmc1"], shown["PebsIndex"]), ("7", "8", "9"))

    def test_integers_from_2_63_on_are_text_in_json(self):
        """Readers of JSON may lose digits of such numbers."""
        most, more = 2 ** 63 - 1, 2 ** 63
        for value in most, more, 2 ** 64 - 1:
            shown = value if value <= most else str(value)
            event = etl.perfinfo(0x0529, struct.pack("<QQ", value, value) + etl.spin_lock(),
                                 extended=0x81, time_stamp=value)
            unknown = etl.perfinfo(0x1234, struct.pack("<QQ", value, value), extended=0x81,
                                   time_stamp=value)
            data = bytearray(etl.file(event, unknown))
            # A time is possible only if the headers of the file and of its buffers say that the
            # session ran then. With start 0 they are left as they are, and the time is impossible.
            for start in 0, value - 5:
                for at in (0x10, 0x48 + 0x10, etl.SIZE + 0x10) if start else ():
                    struct.pack_into("<Q", data, at, start)
                result = run_tool_on("dump", bytes(data), "--json", "--cycles")
                for line in result.stdout.splitlines()[3:]:
                    found = json.loads(line)
                    time = "TimeStamp" if start else "WrongTimeStamp"
                    self.assertEqual((found["Pmc0"], found["PebsIndex"], found[time]),
                                     (shown, shown, shown))
                self.assertEqual(len(result.stdout.splitlines()), 5)
                text = run_tool_on("dump", bytes(data), "--cycles").stdout
                self.assertIn(" Pmc0=%d PebsIndex=%d %s=%d\n" % (value, value, time, value), text)


class Output(unittest.TestCase):
    EVENTS = [etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + 10),
              etl.perfinfo(0x052B, etl.resource_data(), time_stamp=etl.START_CLOCK + 20),
              etl.perfinfo(0x1234, bytes(13), version=7, time_stamp=etl.START_CLOCK + 30)]
    NAMES = ("ffff888012345600 b the_lock\t[driver]\n"
             "ffffffff81234000 T caller\nffffffff81234567 t exactly\n"
             "ffffffff81234568 T after\nthread 55 worker/0:1\n")

    def run_with_names(self, *options, names=NAMES, command="dump"):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.etl")
            with open(path, "wb") as stream:
                stream.write(etl.file(*self.EVENTS))
            with open(path + ".names", "w") as stream:
                stream.write(names)
            return run_tool(command, *options, path)

    def test_cycles_option_prints_time_stamps(self):
        _, lines = dump(etl.file(*self.EVENTS), "--cycles")
        self.assertEqual([fields_of_line(line)["TimeStamp"] for line in lines[3:]],
                         ["1000010", "1000020", "1000030"])

    def test_processors_are_merged_by_time(self):
        def event(time):
            return etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + time)
        data = etl.header_buffer(5) + \
            etl.buffer([event(1), event(4)], processor=1) + \
            etl.buffer([event(2), event(3)], processor=0, sequence=2) + \
            etl.buffer([event(7)], processor=1, sequence=3) + \
            etl.buffer([event(5), event(6)], processor=0, sequence=4)
        result, lines = dump(data, "--cycles")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([int(fields_of_line(line)["TimeStamp"]) - etl.START_CLOCK
                          for line in lines[3:]], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual([line[1] for line in lines[3:6]], ["cpu1", "cpu0", "cpu0"])

    def test_json_has_fields_and_symbols(self):
        result = self.run_with_names("--json", "--cycles")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line) for line in result.stdout.splitlines()][3:]
        self.assertEqual(events[0], {
            "Time": 5e-6, "Cpu": 0, "Event": "SpinLock",
            "SpinLockAddress": "0xffff888012345678",
            "SpinLockAddressSymbol": "the_lock+0x78 [driver]",
            "CallerAddress": "0xffffffff81234567", "CallerAddressSymbol": "exactly",
            "AcquireTime": 1001, "ReleaseTime": 2002, "HoldTime": 1001,
            "WaitTimeInCycles": 303,
            "SpinCount": 44, "ThreadId": 55, "ThreadName": "worker/0:1", "InterruptCount": 6,
            "Irql": 2, "AcquireDepth": 7, "AcquireMode": "queued", "ExecuteDpc": 1,
            "ExecuteIsr": 0, "Rule": "nt", "TimeStamp": 1000010})
        self.assertEqual(events[1]["Action"], "release_exclusive")
        self.assertEqual(events[2], {"Time": 1.5e-5, "Cpu": 0, "Event": "Event",
                                     "HookId": 0x1234, "Version": 7, "Size": 29,
                                     "TimeStamp": 1000030})

    def test_csv_has_fields_and_symbols(self):
        result = self.run_with_names("--csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))[3:]
        self.assertEqual(rows[0]["CallerAddressSymbol"], "exactly")
        self.assertEqual(rows[0]["SpinCount"], "44")
        self.assertEqual(rows[0]["Action"], "")
        self.assertEqual(rows[1]["Action"], "release_exclusive")
        self.assertEqual(rows[1]["ResourceSymbol"], "the_lock+0x78 [driver]")
        self.assertEqual(rows[1]["AcquireTime"], "1001")
        self.assertEqual((rows[2]["Event"], rows[2]["HookId"]), ("Event", "0x1234"))
        self.assertEqual({None in row for row in rows}, {False})

    def test_text_has_symbols(self):
        line = self.run_with_names().stdout.splitlines()[3]
        self.assertIn(" SpinLockAddress=0xffff888012345678 "
                      "SpinLockAddressSymbol=the_lock+0x78_[driver] CallerAddress=", line)
        names = self.NAMES + "lock ffff888012345678 inode.i_rwsem (shmem_inode_cache)\n"
        line = self.run_with_names(names=names).stdout.splitlines()[3]
        self.assertIn(" SpinLockAddressSymbol=inode.i_rwsem_(shmem_inode_cache) Caller", line)

    def test_threads_have_names(self):
        names = self.NAMES + "thread 11 a name\n"
        line = self.run_with_names(names=names).stdout.splitlines()[3]
        self.assertIn(" ThreadId=55 ThreadName=worker/0:1 ", line)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.etl")
            with open(path, "wb") as stream:
                stream.write(etl.file(etl.perfinfo(0x0524, etl.context_swap_data(), 4)))
            with open(path + ".names", "w") as stream:
                stream.write(names)
            text = run_tool("dump", path).stdout.splitlines()[3]
            self.assertIn(" NewThreadId=11 NewThreadName=a_name OldThreadId=22 New", text)
            row = list(csv.DictReader(io.StringIO(run_tool("dump", "--csv", path).stdout)))[3]
            self.assertEqual((row["NewThreadName"], row["OldThreadName"]), ("a name", ""))

    def test_symbols_end_with_their_module(self):
        names = "ffff888012345600 b far\t[driver]\nffffffff80000000 T caller\n"
        line = self.run_with_names(names=names).stdout.splitlines()[3]
        self.assertIn("far+0x78", line)
        self.assertNotIn("caller", line)

    def test_address_of_an_unloaded_module_is_not_named_by_another_one(self):
        for kind in "bdrt":
            for page, offset, is_named in (4, "0x1678", True), (3, "0x2678", False):
                names = "ffff88801234%d000 %s last\t[driver]\n" % (page, kind)
                line = self.run_with_names(names=names).stdout.splitlines()[3]
                self.assertEqual("last+" + offset in line, is_named, (kind, page))

    def test_code_address_after_a_variable_has_no_symbol(self):
        """The functions for a module's initialisation are freed, and its variables stay."""
        names = "ffffffff81234000 %s stall_ms\t[driver]\n"
        for kind in "bBdDrRaAvV":
            line = self.run_with_names(names=names % kind).stdout.splitlines()[3]
            self.assertNotIn("CallerAddressSymbol", line, kind)
            result = self.run_with_names("--filter", "caller == stall_ms", names=names % kind)
            self.assertEqual(result.stdout, "", kind)
        # If a function and a variable have the same address, the function is named.
        both = names % "D" + names.replace("stall_ms", "init") % "t"
        self.assertIn("CallerAddressSymbol=init+0x567_[driver] ",
                      self.run_with_names(names=both).stdout.splitlines()[3])
        result = self.run_with_names(names=names % "b", command="report")
        self.assertNotIn("stall_ms", result.stdout)

    def test_symbols_do_not_reach_over_gaps(self):
        """Per-CPU variables are offsets, the kernel is far above."""
        names = "000000000002d000 A __per_cpu_end\nffffffffff000000 T _text\n"
        line = self.run_with_names(names=names).stdout.splitlines()[3]
        self.assertNotIn("Symbol", line)

    def test_bad_lines_of_names_are_refused(self):
        for names in ("nonsense\n", "thread x y\n", "ffffffff81234000 T\n", "thread 5@ a\n",
                      "thread 5@x a\n", "thread 5@%d a\n" % 2 ** 64, "thread %d a\n" % 2 ** 32):
            result = self.run_with_names(names="ffffffff81234000 T good\n" + names)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("a.etl.names: line 2 is neither", result.stderr)

    def check_count(self, expression, expected):
        result = self.run_with_names("--filter", expression)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), expected, expression)

    def test_filters_select_events(self):
        for expression, expected in (
                ("Event == SpinLock", 1), ("Event != SpinLock", 5), ("Event ~ ource", 1),
                ("SpinCount >= 44", 1), ("SpinCount > 44", 0), ("spincount<45", 1),
                ("Action == release_exclusive", 1), ("Action == release_shared", 0),
                ("Action == 0x10022", 1), ("ThreadId == 55 && Event == Resource", 1),
                ("!(ThreadId == 55)", 4), ("HookId == 0x1234 || SpinCount == 44", 2),
                ("SpinLockAddress == 0xffff888012345678", 1),
                ("SpinLockAddress == 0xffff888012345679", 0),
                ("SpinLockAddress == the_lock", 1), ("CallerAddress ~ \"exact\"", 1),
                ("Time > 0.000006 && Time < 1", 2), ("Cpu == 0", 6), ("Cpu == 1", 0),
                ("Event == SpinLock || Event == Resource && ThreadId == 1", 1),
                # As they are printed.
                ("SpinLockAddress == the_lock+0x78", 1),
                ("SpinLockAddress == the_lock+0x77", 0),
                ("SpinLockAddress != the_lock+0x77", 1),
                ('SpinLockAddressSymbol == "the_lock+0x78 [driver]"', 1),
                ('SpinLockAddress == "the_lock [driver]"', 1),
                ("CallerAddressSymbol == exactly", 1), ("Version == 7", 1),
                ("TimeStamp == 1000010", 1), ("Size == 29", 1), ("HeaderType == 0x11", 3),
                ("Pmc0 == 1", 0), ("PebsIndex >= 0", 0), ("WrongTimeStamp > 0", 0),
                # Holds have 1001 and 202 cycles of 2 MHz, both waits 303.
                ("hold > 500us", 1), ("hold > 101us", 1), ("hold >= 101us", 2),
                ("hold > 0.5ms", 1), ("hold < 1s", 2), ("wait == 151500ns", 2),
                ("HoldTime == 202", 1), ("HoldTime == 101us", 1),
                ("HoldTime == 1001", 1), ("HoldTime > 101us", 1), ("HoldTime > 0", 2),
                ("HoldTime > 0 && Event == SpinLock", 1),
                # A comparison is false of an event without the field; its opposite is not.
                ("Event == Resource && !(SpinCount == 0)", 1),
                ("Event == SpinLock && (ContentionDelta > 0 || SpinCount > 0)", 1),
                ("WaitTimeInCycles > 0.15ms", 1), ("WaitTime > 0.15ms", 2),
                ("Event == SpinLock && WaitTime == 303", 1),
                ("WaitTimeInCycles > 304", 0),
                ("time > 6us && time < 1s", 2), ("time >= 0.00001", 2),
                ("lock == the_lock", 2), ("lock == 0xffff888012345678", 2),
                ("caller == exactly", 1), ("caller != exactly", 0), ("cpu == 0", 6),
                ("thread == 55", 2), ("thread == worker/0:1", 2), ("thread ~ WORKER", 2),
                ("thread != worker/0:1", 3), ("ThreadName == worker/0:1", 2),
                ("ProcessId == 22 && thread == 11", 3), ("ThreadId == 11", 3),
                ("Event == LogFileHeader", 1), ("Event ~ group", 1), ("action == RELEASE_EXCLUSIVE", 1)):
            with self.subTest(expression):
                self.check_count(expression, expected)

    def test_filter_finds_the_thread_made_ready(self):
        data = etl.file(*(etl.perfinfo(0x0532, etl.ready_thread_data(thread, flags=1))
                          for thread in (1, 2, 1)))
        for expression, expected in (("thread == 1", 2), ("thread != 1", 1 + 3),
                                     ("ThreadId == 2", 1), ("ExecutingDpc == 1", 3),
                                     ("AdjustReason == unwait", 3), ("hold > 0s", 0)):
            result, lines = dump(data, "--filter", expression)
            self.assertEqual((result.returncode, len(lines)), (0, expected), expression)

    def test_filter_finds_both_threads_of_a_switch(self):
        data = etl.file(*(etl.perfinfo(0x0524, etl.context_swap_data(new=new, old=old), 4)
                          for new, old in ((1, 2), (2, 3), (3, 1))))
        for expression, expected in (("thread == 1", 2), ("thread != 1", 1 + 3),
                                     ("thread == 4", 0), ("OldThreadPriority == -1", 3),
                                     ("OldThreadPriority < 0", 3),
                                     ("NewThreadPriority > -128", 3)):
            result, lines = dump(data, "--filter", expression)
            self.assertEqual((result.returncode, len(lines)), (0, expected), expression)

    def test_wrong_filters_are_refused(self):
        for expression, words in (
                ("", "a field's name expected"), ("SpinCount", "==, !="),
                ("SpinCount ==", "a value expected"), ("(SpinCount == 1", ") expected"),
                ("SpinCount == 1 SpinCount", "&&, || or the end"),
                ("Cpu == 0 && Frobs == 1", "no event has a field Frobs (character 13)"),
                ("!" * 100 + "Cpu == 1", "an expression with fewer levels expected"), ("Event == \"x", "a value"),
                ("SpinCount == many", '"many" is not a number: SpinCount needs a whole number '
                 '(character 14)'),
                ("SpinCount == 1.5", '"1.5" is not a number'),
                ("SpinCount == 100us", '"100us" is not a number'),
                ("SpinCount == 012x", '"012x" is not a number'), ("SpinCount > -1", "is not a number"),
                ("Irql == 256", "Irql cannot be 256 (character 9)"),
                ("ExecuteDpc == 2", "ExecuteDpc cannot be 2"),
                ("OldThreadPriority == 128", "OldThreadPriority cannot be 128"),
                ("SpinLockAddress == 0x1ffffffffffffffff", "cannot be"),
                ("Action == frobs", 'Action cannot be "frobs": it is a number or initialize'),
                ("Action == frobs", " ww_mutex_wait_excessive_for_shared (character 11)"),
                ("kind == frobs", 'Kind cannot be "frobs": it is a number or resource mutex rwsem '
                 'semaphore rt_mutex percpu_rwsem ww_mutex (character 9)'),
                ("kind == 0xffff0001", "kind cannot be 0xffff0001"),
                ("kind > mutex", "names have no order"),
                ("Event == SpinLock && ContentionDelta > 0",
                 "no event has the fields of both sides of && (character 19)"),
                ("hold > 1us && OldThreadState == running", "both sides of && (character 12)"),
                ("caller ~ x && HookId == 0x524", "no event has the fields of both"),
                ("ProcessId == 1 && lock ~ x || cpu == 1", "both sides of && (character 16)"),
                ("Event == Frobs", 'no event is called "Frobs" (character 10)'),
                ("Event < SpinLock", "Event has no order"),
                ("lock > the_lock", "names have no order"),
                ("hold > 5", '"5" is not a time: hold needs a number with ns, us, ms or s behind it'),
                ("hold > 5 us", '"5" is not a time'), ("hold > 5m", "is not a time"),
                ("HoldTime > 5m", "needs cycles, or a time"),
                ("time > soon", '"soon" is not a time'), ("time > nan", "is not a time"),
                ("SpinCount ~ 1", "SpinCount is not text"),
                ("lock == the_lock+5x", '"5x" is no offset, such as 0x10 (character 18)')):
            with self.subTest(expression):
                result = run_tool("dump", "--filter", expression, "/nonexistent")
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr)

    def test_filter_with_an_unknown_name_is_refused(self):
        for expression, words in (
                ("Cpu == 0 || caller == frobs", 'no symbol is called "frobs" (character 23)'),
                ('SpinLockAddress == "the_lock [other]"', 'no symbol is called '
                 '"the_lock [other]", and no class of locks (character 20)'),
                ("thread == frobs", 'no thread is called "frobs"')):
            result = self.run_with_names("--filter", expression)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("ntklog: --filter: " + words, result.stderr)
            result = run_tool_on("dump", etl.file(), "--filter", expression)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words + ("" if "(" in words else " (character 11)") +
                          " (there are no names of this file)", result.stderr)

    def test_from_and_to_limit_the_time(self):
        for options, expected in (((), 6), (("--from", "10us"), 2), (("--to", "0.00001"), 5),
                                  (("--from", "6us", "--to", "11us"), 1),
                                  (("--from", "6us", "--filter", "Event == SpinLock"), 0)):
            self.assertEqual(len(self.run_with_names(*options).stdout.splitlines()), expected,
                             options)
        for option in "--from", "--to":
            result = run_tool("dump", option, "5m", "x")
            self.assertEqual(result.returncode, 2)
            self.assertIn(option + ': "5m" is not a time', result.stderr)

    def test_events_are_read_from_a_pipe(self):
        result = subprocess.run([NTKLOG, "dump", "-"], input=etl.file(*self.EVENTS),
                                capture_output=True)
        self.assertEqual(len(result.stdout.splitlines()), 6)


class CommandLine(unittest.TestCase):
    def test_missing_command_is_refused(self):
        self.assertEqual(run_tool().returncode, 2)

    def test_unknown_command_is_refused(self):
        result = run_tool("frobnicate")
        self.assertEqual(result.returncode, 2)
        self.assertIn("unknown command: frobnicate", result.stderr)

    def test_missing_file_is_refused(self):
        self.assertEqual(run_tool("dump").returncode, 2)

    def test_second_format_is_refused(self):
        result = run_tool("dump", "--json", "--csv", "x")
        self.assertEqual(result.returncode, 2)
        self.assertIn("give only one of --json and --csv", result.stderr)

    def test_second_file_is_refused(self):
        self.assertEqual(run_tool("info", "a", "b").returncode, 2)

    def test_unknown_option_is_refused(self):
        self.assertEqual(run_tool("dump", "--frobnicate", "a").returncode, 2)

    def test_help_prints_the_usage(self):
        for arguments in (("--help",), ("dump", "--help")):
            result = run_tool(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("Usage: ntklog", result.stdout)

    def test_missing_file_is_reported(self):
        result = run_tool("dump", "/nonexistent.etl")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr,
                         "ntklog: /nonexistent.etl: No such file or directory\n")

    def test_directory_without_files_is_refused(self):
        result = run_tool("dump", "/")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the directory has no file *.etl", result.stderr)
        self.assertIn("/: a directory: give one of its files", run_tool("info", "/").stderr)

    def test_full_device_is_reported(self):
        with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
            stream.write(etl.file(etl.perfinfo(0x1234, b"")))
            stream.flush()
            with open("/dev/full", "w") as full:
                result = subprocess.run([NTKLOG, "dump", stream.name], stdout=full,
                                        stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write: No space left on device", result.stderr)


if __name__ == "__main__":
    tap.main()
