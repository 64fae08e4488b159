#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stacks of events: where they may be in a file, what may be wrong with them, and their sums."""

import json
import os
import re
import subprocess

import etl_writer as etl
import tap
import tool
from tool import NTKLOG, run_tool

T = etl.START_CLOCK + etl.PERF_FREQ
NAMES = """ffffffff81000000 T root
ffffffff81001000 T middle
ffffffff81002000 T inner
ffffffff81003000 T another<&>;one
ffffffff81004000 T behind
thread 55 worker
"""
ROOT, MIDDLE, INNER, ANOTHER = (0xFFFFFFFF81000010 + 0x1000 * i for i in range(4))
CHAIN = [INNER, MIDDLE, ROOT]
# The most frames of a stack in NT.
MOST = 192


def spin_event(time=T, thread=55, hold=100, wait=10, spins=0, **changes):
    return etl.perfinfo(0x0529, etl.spin_lock(thread=thread, acquire=1000, release=1000 + hold,
                                              wait=wait, spins=spins, **changes),
                        time_stamp=time, bits=changes.get("bits", 64))


class Case(tool.Case):
    def write_events_and_names(self, *events, names=NAMES, **changes):
        self.write(etl.file(*events, **changes))
        self.write_names(names)

    def write_many_buffers(self, events, each=60):
        """Write these events in as many buffers of 16384 bytes as they need."""
        buffers = [events[at:at + each] for at in range(0, len(events), each)]
        header = bytearray(etl.header_buffer(1 + len(buffers))[:etl.SIZE])
        # All buffers have one size, that of the header too.
        for at in (0, 0x48 + 0x20):
            header[at:at + 4] = (16384).to_bytes(4, "little")
        self.write(bytes(header).ljust(16384, b"\xff") +
                   b"".join(etl.buffer(each, 16384, sequence=1 + i)
                            for i, each in enumerate(buffers)))
        self.write_names(NAMES)

    def write_names(self, names):
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write(names)

    def dump_events(self, status=0, options=()):
        """The messages, and the events as JSON has them, without those of the file's header."""
        result = run_tool("dump", "--json", *options, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()
                if "HeaderType" in line or '"HookId":0,' not in line][2:], result.stderr

    def stacks_of_events(self, status=0):
        """Return name and addresses of each event; None: the event says that it has no stack."""
        events, _ = self.dump_events(status)
        return [(event["Event"], [int(frame["Address"], 0) for frame in event["Stack"]]
                 if event.get("Stack") is not None else event.get("Stack", ()))
                for event in events]

    def run_report(self, *options, status=0):
        result = run_tool("report", *options, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def read_stack_counts(self, *options):
        return json.loads(self.run_report("--json", *options))["stack_counts"]


class Placing(Case):
    """Which event a stack belongs to."""

    def test_stack_right_behind_its_event_is_found(self):
        self.write_events_and_names(etl.stacks_rundown(2), spin_event(), etl.stack_event(T, CHAIN),
                                    spin_event(T + 2), etl.stack_event(T + 2, [ANOTHER]))
        self.assertEqual(self.stacks_of_events(), [("NtklogStacksDCStart", ()), ("SpinLock", CHAIN),
                                                   ("SpinLock", [ANOTHER])])
        self.assertEqual(self.read_stack_counts(),
                         {"found": 2, "missing": 0, "unknown": 0, "alone": 0})

    def test_stacks_of_selected_events_are_counted(self):
        self.write_events_and_names(etl.stacks_rundown(2), spin_event(), etl.stack_event(T, CHAIN),
                                    spin_event(T + 2), spin_event(T + 4000, thread=56),
                                    etl.stack_event(T + 4000, CHAIN, thread=56))
        for options, counts in (((), (2, 1)), (("--from", "1.001"), (1, 0)),
                                (("--to", "1.001"), (1, 1)),
                                (("--filter", "thread == 55"), (1, 1))):
            self.assertEqual(self.read_stack_counts(*options),
                             {"found": counts[0], "missing": counts[1], "unknown": 0, "alone": 0})

    def test_text_has_the_stack_below_its_event(self):
        self.write_events_and_names(spin_event(), etl.stack_event(T, CHAIN), spin_event(T + 2))
        lines = run_tool("dump", self.path).stdout.splitlines()[3:]
        self.assertEqual([line.split()[2] if line.split()[1].startswith("cpu") else line
                          for line in lines],
                         ["SpinLock", " " * 15 + "0xffffffff81002010 inner+0x10",
                          " " * 15 + "0xffffffff81001010 middle+0x10",
                          " " * 15 + "0xffffffff81000010 root+0x10", "SpinLock"])
        # Without names there are only the addresses.
        os.unlink(self.path + ".names")
        self.assertIn("\n" + " " * 15 + "0xffffffff81002010\n", run_tool("dump", self.path).stdout)

    def test_json_has_the_stack(self):
        self.write_events_and_names(spin_event(),
                                    etl.stack_event(T, [INNER, 0x10], thread=7, process=6))
        (event,), _ = self.dump_events()
        self.assertEqual((event["StackProcess"], event["StackThread"]), (6, 7))
        self.assertEqual(event["Stack"], [
            {"Address": "0xffffffff81002010", "Symbol": "inner+0x10"}, {"Address": "0x10"}])
        self.assertEqual(event["ThreadId"], 55)

    def test_csv_has_rows_of_their_own(self):
        self.write_events_and_names(spin_event(), etl.stack_event(T, CHAIN))
        rows = run_tool("dump", "--csv", self.path).stdout.splitlines()
        self.assertEqual([row.split(",")[2] for row in rows[4:]], ["SpinLock", "StackWalk"])
        self.assertEqual(len({row.count(",") for row in rows}), 1)

    def test_stack_is_found_behind_events_of_other_threads(self):
        """Windows may write events and stacks of other threads in between."""
        user = [0x7FF600001000, 0x7FF600002000]
        self.write_events_and_names(spin_event(), spin_event(T + 1, thread=66),
                                    etl.perfinfo(0x0F43, bytes(8), time_stamp=T + 2),
                                    etl.stack_event(T + 1, [ANOTHER], thread=66),
                                    etl.stack_event(T, CHAIN),
                                    etl.stack_event(T, user))
        self.assertEqual(self.stacks_of_events(),
                         [("SpinLock", CHAIN + user), ("SpinLock", [ANOTHER]),
                          ("Interrupt", ())])

    def test_thread_decides_among_events_of_one_time(self):
        """With a coarse clock several events have one time, and the thread decides."""
        self.write_events_and_names(spin_event(thread=55), spin_event(thread=66),
                                    spin_event(thread=77),
                                    etl.stack_event(T, [ROOT], thread=77),
                                    etl.stack_event(T, [INNER], thread=55),
                                    etl.stack_event(T, [MIDDLE], thread=66))
        self.assertEqual([stack for _, stack in self.stacks_of_events()],
                         [[INNER], [MIDDLE], [ROOT]])

    def test_stack_belongs_to_the_record_and_not_to_its_caller(self):
        """The caller has the record's time stamp. Another thread may release the lock."""
        self.write_events_and_names(etl.caller_event(0xFFFF888012345678, MIDDLE, time_stamp=T),
                                    etl.linux_lock_event("mutex", time_stamp=T, thread=56),
                                    etl.stack_event(T, CHAIN))
        self.assertEqual(self.stacks_of_events(), [("NtklogCaller", ()), ("Resource", CHAIN)])

    def test_stack_on_another_processor_is_found_by_thread(self):
        """An event that does not say its thread gets a stack of its own processor only."""
        profile = etl.perfinfo(0x0F2E, bytes(16), time_stamp=T)
        self.write(etl.header_buffer(3) + etl.buffer([spin_event(), profile]) +
                   etl.buffer([spin_event(thread=66), etl.stack_event(T, [ANOTHER], thread=9),
                               etl.stack_event(T, CHAIN), etl.stack_event(T, [ROOT], thread=66)],
                              processor=1, sequence=2, flags=0x21))
        events, _ = self.dump_events()
        found = {(event["Event"], event.get("ThreadId")): event.get("Stack") for event in events}
        self.assertEqual(len(found[("SpinLock", 55)]), 3)
        self.assertEqual(found[("SpinLock", 66)][0]["Address"], hex(ANOTHER))
        self.assertNotIn("Stack", next(event for event in events
                                       if event["Event"] == "SampledProfile"))
        self.assertEqual(self.read_stack_counts()["found"], 2)

    def test_stack_of_an_event_of_any_type_is_found(self):
        self.write_events_and_names(etl.perfinfo(0x0F2E, bytes(16), time_stamp=T),
                                    etl.stack_event(T, CHAIN),
                                    etl.perfinfo(0x0524, etl.context_swap_data(new=11, old=22), 4,
                                                 time_stamp=T + 1),
                                    etl.stack_event(T + 1, [ROOT], thread=11),
                                    etl.perfinfo(0x0524, etl.context_swap_data(),
                                                 4, time_stamp=T + 2),
                                    etl.stack_event(T + 2, [INNER], thread=22))
        self.assertEqual(self.stacks_of_events(),
                         [("SampledProfile", CHAIN), ("ContextSwap", [ROOT]),
                          ("ContextSwap", [INNER])])

    def test_stack_in_the_next_buffer_is_found(self):
        self.write(etl.header_buffer(3) + etl.buffer([etl.stacks_rundown(2), spin_event()]) +
                   etl.buffer([etl.stack_event(T, CHAIN)], sequence=2, flags=0x21))
        self.assertEqual(self.stacks_of_events()[-1], ("SpinLock", CHAIN))
        self.assertEqual(self.read_stack_counts()["found"], 1)

    def test_stack_of_a_32_bit_trace_is_found(self):
        self.write_events_and_names(spin_event(bits=32),
                                    etl.stack_event(T, [0x80001000, 0x80002000], bits=32),
                                    bits=32)
        self.assertEqual(self.stacks_of_events(), [("SpinLock", [0x80001000, 0x80002000])])

    def test_stack_is_found_in_a_pipe(self):
        data = etl.file(etl.stacks_rundown(2), spin_event(), etl.stack_event(T, CHAIN))
        with subprocess.Popen([NTKLOG, "dump", "--json", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            out, _ = process.communicate(data, timeout=600)
        self.assertEqual(len(json.loads(out.splitlines()[-1])["Stack"]), 3)


class Missing(Case):

    def test_an_event_whose_stack_was_lost_says_so(self):
        self.write_events_and_names(etl.stacks_rundown(2), spin_event(), etl.stack_event(T, CHAIN),
                                    spin_event(T + 2), spin_event(T + 3),
                                    etl.perfinfo(0x052B, etl.resource_data(), time_stamp=T + 4))
        events, message = self.dump_events()
        self.assertEqual([event.get("Stack", ()) and event["Stack"] for event in events[2:]],
                         [None, None, ()])
        self.assertIn("2 events have no stack: it was lost, or could not be recorded", message)
        self.assertIn("\n" + " " * 15 + "no stack: it was lost, or could not be recorded\n",
                      run_tool("dump", self.path).stdout)
        self.assertEqual(self.read_stack_counts(),
                         {"found": 1, "missing": 2, "unknown": 0, "alone": 0})
        self.assertIn("2 events have no stack: it was lost, or could not be recorded\n",
                      self.run_report())

    def test_trace_without_requested_stacks_prints_nothing_about_stacks(self):
        self.write_events_and_names(spin_event(), spin_event(T + 1))
        events, message = self.dump_events()
        self.assertFalse(any("Stack" in event for event in events))
        self.assertEqual(message, "")
        self.assertNotIn("stack_counts", json.loads(self.run_report("--json")))

    def test_excessive_wait_written_by_another_thread_counts_no_missing_stack(self):
        self.write_events_and_names(etl.stacks_rundown(7),
                                    etl.perfinfo(0x052B, etl.resource_data(action=0x10224),
                                                 time_stamp=T),
                                    etl.linux_lock_event("mutex", 0x224))
        self.assertEqual(self.read_stack_counts()["missing"], 0)

    def test_stacks_enabled_and_disabled_in_the_trace_count_as_missing_while_enabled(self):
        self.write_events_and_names(etl.stacks_rundown(2, time_stamp=T), spin_event(T + 1),
                                    etl.stack_event(T + 1, CHAIN),
                                    etl.stacks_rundown(0, time_stamp=T + 3), spin_event(T + 4),
                                    spin_event(T + 5),
                                    etl.stacks_rundown(2, time_stamp=T + 6), spin_event(T + 7))
        self.assertEqual([stack for name, stack in self.stacks_of_events() if name == "SpinLock"],
                         [CHAIN, (), (), None])
        self.assertEqual(self.read_stack_counts()["missing"], 1)

    def test_too_many_stack_rundowns_are_reported(self):
        """The rundowns are in descending order, which is the worst case."""
        count = 16384 + 2
        self.write_many_buffers([etl.stacks_rundown(2 * (i & 1), time_stamp=T + i)
                                 for i in range(count - 1, -1, -1)] + [spin_event(T + count)])
        _, message = self.dump_events()
        self.assertIn("too many notes about stacks and their keys: some were not used",
                      message)

    def test_the_rundown_of_a_flight_recorder_is_at_its_end(self):
        self.write_events_and_names(spin_event(), etl.stack_event(T, CHAIN), spin_event(T + 2),
                                    etl.stacks_rundown(2, end=True, time_stamp=T + 3))
        self.assertEqual(self.read_stack_counts(),
                         {"found": 1, "missing": 1, "unknown": 0, "alone": 0})

    def test_stack_without_its_event_is_printed_alone(self):
        self.write_events_and_names(etl.stack_event(T - 9, [ROOT], thread=3, process=2),
                                    spin_event(), etl.stack_event(T, CHAIN))
        events, message = self.dump_events()
        self.assertEqual(events[0]["Event"], "StackWalk")
        self.assertEqual((events[0]["EventTimeStamp"], events[0]["StackProcess"],
                          events[0]["StackThread"], len(events[0]["Stack"])), (T - 9, 2, 3, 1))
        self.assertEqual(len(events[1]["Stack"]), 3)
        self.assertIn("1 stacks belong to events that are not in the file", message)
        text = run_tool("dump", self.path).stdout
        self.assertIn("StackWalk HookId=0x1820 Version=2 Size=40 EventTimeStamp=%d StackProcess=2"
                      " StackThread=3\n%s0xffffffff81000010 root+0x10\n" % (T - 9, " " * 15), text)
        self.assertEqual(self.read_stack_counts()["alone"], 1)

    def test_stack_of_another_thread_stays_without_event(self):
        self.write(etl.header_buffer(3) + etl.buffer([spin_event()]) +
                   etl.buffer([etl.stack_event(T, CHAIN, thread=66)], processor=1, sequence=2,
                              flags=0x21))
        self.assertEqual(self.read_stack_counts(),
                         {"found": 0, "missing": 0, "unknown": 0, "alone": 1})

    def test_stack_too_far_behind_its_event_is_printed_alone(self):
        between = [etl.perfinfo(0x0F43, bytes(8), time_stamp=T + 1)] * 1100
        buffers = [between[at:at + 100] for at in range(0, len(between), 100)]
        self.write(etl.header_buffer(3 + len(buffers)) +
                   etl.buffer([spin_event(T - 5), etl.stack_event(T - 5, CHAIN), spin_event()]) +
                   b"".join(etl.buffer(events, sequence=2 + i)
                            for i, events in enumerate(buffers)) +
                   etl.buffer([etl.stack_event(T, CHAIN, time_stamp=T + 2)],
                              sequence=2 + len(buffers), flags=0x21))
        self.assertEqual(self.read_stack_counts(),
                         {"found": 1, "missing": 0, "unknown": 0, "alone": 1})

    def test_stack_of_an_event_left_out_is_left_out(self):
        self.write_events_and_names(spin_event(), etl.stack_event(T, CHAIN),
                                    spin_event(T + 2, thread=66),
                                    etl.stack_event(T + 2, [ROOT], thread=66))
        events, _ = self.dump_events(options=("--filter", "ThreadId == 66"))
        everything = run_tool("dump", "--filter", "ThreadId == 66", self.path).stdout
        self.assertEqual(everything.count("0xffffffff8100"), 1)


class Damage(Case):
    def check_damaged_stack(self, event, message):
        self.write_events_and_names(etl.stacks_rundown(2), spin_event(), event, spin_event(T + 2),
                                    etl.stack_event(T + 2, CHAIN))
        stacks = [stack for name, stack in self.stacks_of_events(status=1) if name == "SpinLock"]
        # A damaged stack is ignored, and does not affect the next one.
        self.assertEqual(stacks, [None, CHAIN])
        for command in "dump", "report":
            result = run_tool(command, self.path)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
            self.assertIn("1 damaged events", result.stderr)

    def test_stack_event_without_addresses_is_damage(self):
        self.check_damaged_stack(etl.stack_event(T, []), "stack with 0 addresses, not 1 to 192")

    def test_stack_with_too_many_addresses_is_reported(self):
        self.write_events_and_names(spin_event(), etl.stack_event(T, [INNER] * MOST))
        self.assertEqual(self.stacks_of_events(), [("SpinLock", [INNER] * MOST)])
        self.check_damaged_stack(etl.stack_event(T, [INNER] * (MOST + 1)),
                                 "stack with 193 addresses, not 1 to 192")

    def test_truncated_stack_event_is_damage(self):
        whole = etl.stack_event(T, CHAIN)[0x10:]
        self.check_damaged_stack(etl.perfinfo(0x1820, whole[:-3]),
                                 "0x15 bytes of addresses of 8 bytes each")
        self.check_damaged_stack(etl.perfinfo(0x1820, whole[:0x0C]),
                                 "0xc bytes of data, not 0x10 or more")
        self.check_damaged_stack(etl.perfinfo(0x1820, b""), "0x0 bytes of data, not 0x10 or more")

    def test_cut_stack_key_is_reported(self):
        self.check_damaged_stack(etl.perfinfo(0x1825, bytes(0x14)),
                                 "0x14 bytes of data, not 0x18 or more")
        self.check_damaged_stack(etl.stack_definition_event(1, []),
                                 "stack with 0 addresses, not 1 to 192")

    def test_stack_event_of_an_unknown_version_is_printed_without_addresses(self):
        self.write_events_and_names(spin_event(), etl.stack_event(T, [], version=9))
        self.assertEqual(self.stacks_of_events(), [("SpinLock", ()), ("StackWalk", ())])

    def test_stack_of_too_many_parts_is_cut(self):
        self.write_events_and_names(spin_event(),
                                    *(etl.stack_event(T, [INNER] * 80) for _ in range(5)))
        (_, stack), = self.stacks_of_events()
        self.assertEqual(len(stack), 2 * MOST)


class Keys(Case):
    """Stacks that are written once with a key, and then by the key alone."""

    KERNEL, USER, CREATE, DELETE, RUNDOWN = 0x1825, 0x1826, 0x1822, 0x1823, 0x1824

    def stack_key_event(self, time, key, hook_id=0x1825, **changes):
        return etl.stack_event(time, [key], hook_id=hook_id, **changes)

    def test_definition_before_the_event_or_in_the_rundown_at_the_end_is_found(self):
        self.write_events_and_names(etl.stack_definition_event(0xA1, CHAIN, time_stamp=T - 2),
                                    spin_event(), self.stack_key_event(T, 0xA1),
                                    spin_event(T + 2), self.stack_key_event(T + 2, 0xA2),
                                    etl.stack_definition_event(0xA2, [ROOT], hook_id=self.RUNDOWN,
                                                               time_stamp=T + 9))
        self.assertEqual([stack for name, stack in self.stacks_of_events() if name == "SpinLock"],
                         [CHAIN, [ROOT]])

    def test_kernel_and_user_part_are_joined(self):
        user = [0x7FF600001000]
        self.write_events_and_names(etl.stack_definition_event(1, CHAIN, time_stamp=T - 2),
                                    etl.stack_definition_event(2, user, time_stamp=T - 2),
                                    spin_event(), self.stack_key_event(T, 1),
                                    self.stack_key_event(T, 2, self.USER))
        self.assertIn(("SpinLock", CHAIN + user), self.stacks_of_events())

    def test_key_that_is_reused_has_the_definition_of_its_time(self):
        self.write_events_and_names(etl.stack_definition_event(1, CHAIN, time_stamp=T),
                                    spin_event(T + 1),
                                    self.stack_key_event(T + 1, 1),
                                    etl.stack_definition_event(1, CHAIN, hook_id=self.DELETE,
                                                               time_stamp=T + 3),
                                    etl.stack_definition_event(1, [ROOT], time_stamp=T + 4),
                                    spin_event(T + 5),
                                    self.stack_key_event(T + 5, 1))
        self.assertEqual([stack for name, stack in self.stacks_of_events() if name == "SpinLock"],
                         [CHAIN, [ROOT]])

    def test_repeated_deletions_of_a_key_in_any_order_leave_the_later_definition(self):
        """The later definition wins, whatever the order in the file."""
        deleted = [etl.stack_definition_event(1, CHAIN, hook_id=self.DELETE, time_stamp=T + at)
                   for at in (7, 4, 5, 6, 3)]
        buffers = [[etl.stack_definition_event(1, [ROOT], time_stamp=T + 8)]]
        buffers += [[event] for event in deleted]
        buffers += [[etl.stack_definition_event(1, CHAIN, time_stamp=T), spin_event(T + 1),
                     self.stack_key_event(T + 1, 1),
                     spin_event(T + 5), self.stack_key_event(T + 5, 1), spin_event(T + 9),
                     self.stack_key_event(T + 9, 1)]]
        self.write(etl.header_buffer(1 + len(buffers)) +
                   b"".join(etl.buffer(events, processor=i, sequence=1 + i)
                            for i, events in enumerate(buffers)))
        self.write_names(NAMES)
        self.assertEqual([stack for name, stack in self.stacks_of_events() if name == "SpinLock"],
                         [CHAIN, [ROOT], [ROOT]])

    def test_key_without_a_definition_is_reported(self):
        self.write_events_and_names(etl.stack_definition_event(2, CHAIN, time_stamp=T - 2),
                                    spin_event(), self.stack_key_event(T, 3))
        events, message = self.dump_events()
        self.assertIsNone(events[-1]["Stack"])
        self.assertIn("1 events have keys, whose stacks are not in the file", message)
        self.assertIn("no stack: the stack of its key is not in the file",
                      run_tool("dump", self.path).stdout)
        self.assertEqual(self.read_stack_counts(),
                         {"found": 0, "missing": 0, "unknown": 1, "alone": 0})

    def test_definition_in_a_32_bit_trace_is_found(self):
        self.write_events_and_names(etl.stack_definition_event(0x90000001, [0x80001000], bits=32,
                                                               time_stamp=T - 1),
                                    spin_event(bits=32),
                                    self.stack_key_event(T, 0x90000001, bits=32),
                                    bits=32)
        self.assertIn(("SpinLock", [0x80001000]), self.stacks_of_events())


class Sums(Case):
    def setUp(self):
        super().setUp()
        # 1 of 10 of those that waited is written, 1 of 1000 of the others; the last record is
        # written for its hold.
        self.write_events_and_names(etl.spinlock_rundown(1, 10, 1000, 1_000_000),
                                    etl.stacks_rundown(6),
                                    spin_event(T, wait=20, hold=100, spins=3),
                                    etl.stack_event(T, CHAIN),
                                    spin_event(T + 2, hold=200), etl.stack_event(T + 2, CHAIN),
                                    spin_event(T + 4, wait=50, spins=2, hold=2_000_000),
                                    etl.stack_event(T + 4, [ANOTHER, ROOT]),
                                    spin_event(T + 6, wait=30, spins=2, hold=10),
                                    etl.perfinfo(0x052B,
                                                 etl.resource_data(hold=300, wait=400, delta=0),
                                                 time_stamp=T + 8),
                                    etl.stack_event(T + 8, [INNER, ROOT]))

    def rows_by_stack(self):
        return {row["stack"]: row for row in json.loads(self.run_report("--json", "--stacks",
                                                                        "--columns",
                                                                        "all"))["stacks"]}

    def test_weights_of_stacks_are_those_of_the_other_tables(self):
        rows = self.rows_by_stack()
        ns = 1e9 / etl.PERF_FREQ
        chain = rows["inner+0x10 < middle+0x10 < root+0x10"]
        self.assertEqual((chain["sampled"], chain["acquisitions"]), (2, 1010))
        self.assertAlmostEqual(chain["contended"], 10 / 1010)
        self.assertAlmostEqual(chain["wait_total_ns"], 10 * 20 * ns)
        self.assertAlmostEqual(chain["wait_mean_ns"], 20 * ns)
        self.assertAlmostEqual(chain["hold_total_ns"], (10 * 100 + 1000 * 200) * ns)
        self.assertAlmostEqual(chain["hold_max_ns"], 200 * ns)
        self.assertAlmostEqual(rows["another<&>;one+0x10 < root+0x10"]["wait_total_ns"], 50 * ns)
        self.assertAlmostEqual(rows["inner+0x10 < root+0x10"]["hold_total_ns"], 300 * ns)
        self.assertAlmostEqual(rows["(no stack)"]["wait_total_ns"], 300 * ns)
        # The sums of the tables are equal.
        report = json.loads(self.run_report("--json", "--columns", "all"))
        for column in "wait_total_ns", "hold_total_ns":
            self.assertAlmostEqual(sum(row[column] for row in rows.values()),
                                   sum(row[column] for table in ("locks", "resources")
                                       for row in report[table]))

    def test_sampling_errors_of_stacks_are_those_of_the_other_tables(self):
        row = self.rows_by_stack()["inner+0x10 < middle+0x10 < root+0x10"]
        heavy, light = 1000 * 999, 10 * 9
        self.assertAlmostEqual(row["acquisitions_error"], (heavy + light) ** .5 / 1010)
        # A single record does not tell the error of a sum of times.
        self.assertIsNone(row["wait_total_error"])
        self.assertIsNone(row["hold_total_error"])
        row = self.rows_by_stack()["another<&>;one+0x10 < root+0x10"]
        self.assertIsNone(row["acquisitions_error"])
        self.assertIn("acquired ~1010+-99%, contended 1.0%, ", self.run_report("--stacks"))

    def test_stacks_of_mode_waits_have_no_acquisitions_and_no_holds(self):
        self.write_events_and_names(etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(2),
                                    etl.stacks_rundown(2),
                                    spin_event(T, wait=20, hold=0, spins=3, rule=2),
                                    etl.stack_event(T, CHAIN))
        (row,) = self.rows_by_stack().values()
        self.assertEqual([row[column] for column in (
            "acquisitions", "acquisitions_error", "contended", "hold_total_ns", "hold_mean_ns",
            "hold_max_ns")], [None] * 6)
        self.assertAlmostEqual(row["wait_total_ns"], 20 * 1e9 / etl.PERF_FREQ)

    def test_text_of_stacks_has_a_line_for_each_function(self):
        text = self.run_report("--stacks", "--sort", "hold_total", "--top", "1")
        self.assertIn("\nStacks of locks, by hold_total (1 of 4)\n", text)
        self.assertTrue(text.endswith("\n      another<&>;one+0x10\n      root+0x10\n"), text)
        self.assertNotIn("Spin locks, by", text)
        self.assertIn("Stacks of locks, by wait_total", self.run_report())

    def test_csv_has_stacks(self):
        lines = self.run_report("--csv", "--stacks").splitlines()
        self.assertEqual(len(lines), 5)
        self.assertIn("stack,sampled,acquisitions", lines[0])

    def test_table_of_stacks_is_missing_without_stacks(self):
        self.write_events_and_names(spin_event())
        result = run_tool("report", "--stacks", self.path)
        self.assertEqual(result.returncode, 0)
        self.assertIn("no event has a stack: record with --stacks", result.stderr)
        self.assertNotIn("Stacks of locks", result.stdout)

    def test_folded_stacks_have_times(self):
        lines = self.run_report("--folded").splitlines()
        self.assertEqual(lines, ["(no stack) 150000", "root;another<&>:one 25000",
                                 "root;inner 200000", "root;middle;inner 100000"])
        self.assertEqual(self.run_report("--folded=wait").splitlines(), lines)
        held = self.run_report("--folded=hold").splitlines()
        self.assertIn("root;middle;inner 100500000", held)
        self.assertEqual(run_tool("report", "--folded=both", self.path).returncode, 2)
        self.assertEqual(run_tool("report", "--folded", "--json", self.path).returncode, 2)

    def test_folded_stacks_have_no_rows(self):
        for options in ("--top", "3"), ("--sort", "wait_total"), ("--columns", "stack"):
            result = run_tool("report", "--folded", *options, self.path)
            self.assertEqual((result.returncode, result.stdout), (2, ""), options)
            self.assertIn("--folded prints all stacks: leave out --top", result.stderr)

    def test_folded_stacks_without_names_have_addresses(self):
        os.unlink(self.path + ".names")
        self.assertIn("0xffffffff81000010;0xffffffff81001010;0xffffffff81002010 100000",
                      self.run_report("--folded").splitlines())

    def test_return_address_behind_a_function_belongs_to_it(self):
        """The last instruction of the function is a call that does not return."""
        self.write_events_and_names(spin_event(spins=1), etl.stack_event(T, [0xFFFFFFFF81001000]))
        self.assertEqual(self.run_report("--folded").splitlines(), ["root 5000"])

    def test_page_has_flame_graphs(self):
        page = self.run_report("--html", "-")
        flames = tool.pictures_of_page(page)["flames"]
        self.assertEqual(set(flames), {"waits", "holds"})
        graph = flames["waits"]
        self.assertEqual(graph["left_out"], 0)
        self.assertEqual([function[:3] for function in graph["functions"]], [
            [0, "(no stack)", 150000], [0, "root", 325000], [1, "another<&>:one", 25000],
            [1, "inner", 200000], [1, "middle", 100000], [2, "inner", 100000]])
        self.assertEqual(graph["functions"][4], [1, "middle", 100000, 0, 2])
        self.assertEqual(graph["total"], 475000)
        self.assertNotRegex(page, r"(src|href)=\"[^#]")

    def test_page_bounds_its_flame_graphs(self):
        count = 5000
        self.write_many_buffers([event for i in range(count)
                                 for event in (spin_event(T + 2 * i, wait=10_000 if i < 4 else 1,
                                                          spins=1),
                                               etl.stack_event(T + 2 * i,
                                                               [0xFFFFFFFF90000000 + i]))])
        graph = tool.pictures_of_page(self.run_report("--html", "-"))["flames"]["waits"]
        self.assertEqual((len(graph["functions"]), graph["left_out"]), (4, count - 4))

    def test_page_without_stacks_has_no_flame_graphs(self):
        self.write_events_and_names(spin_event())
        self.assertNotIn("flames", tool.pictures_of_page(self.run_report("--html", "-")))

    def test_stacks_beyond_the_limit_are_summed_in_one_row(self):
        count = 16384 + 3
        self.write_many_buffers([event for i in range(count)
                                 for event in (spin_event(T + 2 * i, wait=4, spins=1),
                                               etl.stack_event(T + 2 * i,
                                                               [0xFFFFFFFF90000000 + i]))])
        rows = self.rows_by_stack()
        self.assertEqual(rows["(other stacks)"]["sampled"], 3)
        self.assertEqual(len(rows), 16384 + 1)

    def test_addresses_of_stacks_beyond_the_limit_share_a_row(self):
        """There are more than 0x80000 addresses."""
        count = 0x80000 // MOST + 3
        self.write_many_buffers([event for i in range(count)
                                 for event in (spin_event(T + 2 * i, wait=4, spins=1),
                                               etl.stack_event(T + 2 * i,
                                                               [0xFFFFFFFF90000000 + i] * MOST))],
                                8)
        rows = self.rows_by_stack()
        self.assertEqual(rows["(other stacks)"]["sampled"], 3)
        self.assertEqual(len(rows), count - 3 + 1)


if __name__ == "__main__":
    tap.main()
