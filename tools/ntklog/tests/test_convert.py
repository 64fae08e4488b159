#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog convert, from the outside: what the readers of the formats see."""

import json
import os
import re
import subprocess

import etl_writer as etl
import perfetto_decoder
import tap
from convert_case import Case, NTKLOG, run_command


class Ctf(Case):
    def read_ctf(self):
        result = run_command("babeltrace2", "--clock-cycles", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines()

    def test_each_event_class_has_a_name_of_its_own(self):
        self.convert("--ctf", etl.file(*self.events_at(2000000)))
        with open(os.path.join(self.out, "metadata"), encoding="utf-8") as stream:
            names = re.findall(r'^event \{\n\tname = "(\w+)"', stream.read(), re.M)
        self.assertIn("NtklogDroppedDCEndV1", names)
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_ctf_fields_are_those_of_the_record(self):
        self.convert("--ctf", etl.file(*self.events_at(2000000)))
        (line,) = self.read_ctf()
        self.assertIn("cpu_id = 0", line)
        values = dict(re.findall(r'(\w+) = (?:\( "(?=\w+" : container))?"?([\w.]+)', line))
        self.assertEqual(values, {
            "cpu_id": "0", "SpinLockAddress": "0xFFFF888012345678",
            "CallerAddress": "0xFFFFFFFF81234567", "AcquireTime": "1001",
            "ReleaseTime": "2002", "WaitTimeInCycles": "303", "SpinCount": "44",
            "ThreadId": "55", "InterruptCount": "6", "Irql": "2", "AcquireDepth": "7",
            "AcquireMode": "queued", "container": "0", "ExecuteDpc": "1", "ExecuteIsr": "0",
            "Rule": "nt"})

    def test_ctf_kinds_are_those_of_the_record(self):
        actions = {"%s_release_shared" % kind: etl.LINUX_KINDS[kind] | 0x42
                   for kind in etl.LINUX_KINDS}
        self.convert("--ctf", etl.file(*(etl.perfinfo(0x052B, etl.resource_data(action=action))
                                         for action in (*actions.values(), 0x80990022))))
        *lines, unknown = self.read_ctf()
        self.assertEqual([re.search(r'Action = \( "(\w+)"', line)[1] for line in lines],
                         list(actions))
        self.assertRegex(unknown, r"Action = \( <unknown> : container = %d \)" % 0x80990022)

    def test_ctf_rules_are_those_of_the_record(self):
        rules = {0: "nt", 1: "sampled", 2: "wait", 4: "nt_blocker", 12: "blocker"}
        self.convert("--ctf", etl.file(etl.ntklog_rundown(2, blockers=3), *(
            etl.perfinfo(0x0529, etl.spin_lock(rule=rule)) for rule in rules)))
        rundown, *lines = self.read_ctf()
        self.assertRegex(rundown, r'LinuxMode = \( "waits" .*, Blockers = 3 ')
        self.assertEqual([re.search(r'Rule = \( "(\w+)"', line)[1] for line in lines],
                         list(rules.values()))

    def test_ctf_names_each_type_of_event(self):
        data = etl.header_buffer(2) + etl.buffer([
            etl.spinlock_rundown(), etl.resource_rundown(),
            *self.events_at(2000001, hook_id=0x052B, make=etl.resource_data),
            *self.events_at(2000002, hook_id=0x0524, make=etl.context_swap_data, version=4),
            *self.events_at(2000003, hook_id=0x0524, version=1,
                            make=lambda: etl.context_swap_data(1))])
        self.convert("--ctf", data)
        self.assertEqual([re.search(r"\) (\w+):", line)[1] for line in self.read_ctf()],
                         ["SpinLockDCStart", "ResourceDCStart", "Resource", "ContextSwap",
                          "ContextSwapV1"])

    def test_ctf_time_is_that_of_the_wall_clock(self):
        self.convert("--ctf", etl.file(*self.events_at(3000000)))
        text = run_command("babeltrace2", "--clock-seconds", "--clock-gmt", self.out).stdout
        # StartTime of the header, and 1.5 seconds.
        seconds = (132_000_000_000_000_000 - 116444736000000000) / 1e7 + 1.5
        self.assertAlmostEqual(float(text[1:text.index("]")]), seconds, places=6)

    def test_ctf_has_a_stream_for_each_processor(self):
        data = etl.header_buffer(3) + etl.buffer(self.events_at(10, 40), processor=0) + \
            etl.buffer(self.events_at(20, 30), processor=5, sequence=2)
        self.convert("--ctf", data)
        self.assertEqual([re.search(r"cpu_id = (\d+)", line)[1] for line in self.read_ctf()],
                         ["0", "5", "5", "0"])
        self.assertEqual(sorted(os.listdir(self.out)), ["cpu0", "cpu5", "metadata"])

    def test_ctf_has_symbols(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("ffffffff81234567 T the_caller\n")
        self.convert("--ctf", etl.file(*self.events_at(10)))
        self.assertIn('CallerAddressSymbol = "the_caller"', self.read_ctf()[0])

    def test_unknown_events_are_counted(self):
        result = self.convert("--ctf", etl.file(*self.events_at(10), etl.perfinfo(0x1234, b"")))
        self.assertIn("1 events converted, 1 not known", result.stderr)

    def test_ctf_keeps_events_whose_times_go_back(self):
        self.convert("--ctf", etl.file(*self.events_at(50, 20, -500000)))
        self.assertEqual(len(self.read_ctf()), 3)

    def test_ctf_of_a_damaged_file_has_the_good_events(self):
        data = bytearray(etl.file(*self.events_at(10, 20)))
        data[etl.SIZE + 0x48 + 0x48 + 2] = 0x77
        result = self.convert("--ctf", data, status=1)
        self.assertIn("offset 0x1090: no event", result.stderr)
        self.assertEqual(len(self.read_ctf()), 1)

    def test_ctf_of_the_same_trace_is_the_same(self):
        contents = []
        for self.out in (self.out, self.out + "2"):
            self.convert("--ctf", etl.file(*self.events_at(10, 20)))
            contents.append([])
            for name in sorted(os.listdir(self.out)):
                with open(os.path.join(self.out, name), "rb") as stream:
                    contents[-1].append(stream.read())
        self.assertEqual(*contents)

    def test_no_known_events_make_an_empty_trace(self):
        for options in "--ctf", "--perfetto", "--pprof":
            for number, events in enumerate(([], [etl.perfinfo(0x1234, b"")])):
                self.out = os.path.join(self.directory.name, options + str(number))
                result = self.convert(options, etl.file(*events))
                self.assertRegex(result.stderr, " 0 (stacks of . )?events converted")
                self.assertTrue(os.path.exists(self.out))
                if options == "--ctf":
                    self.assertEqual(self.read_ctf(), [])

    def test_ctf_of_many_packets_is_complete(self):
        data = etl.header_buffer(101)
        for i in range(100):
            data += etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(spins=40 * i + j),
                                             time_stamp=etl.START_CLOCK + 100 * i + j)
                                for j in range(40)], sequence=i + 1, processor=i % 2)
        self.convert("--ctf", data)
        self.assertEqual([int(re.search(r"SpinCount = (\d+)", line)[1])
                          for line in self.read_ctf()],
                         list(range(4000)))
        self.assertGreater(os.path.getsize(os.path.join(self.out, "cpu0")), 1 << 17)

    def test_ctf_has_records_of_32_bit_traces(self):
        event = etl.perfinfo(0x0529, etl.spin_lock(32), bits=32)
        self.convert("--ctf", etl.file(event, bits=32))
        self.assertIn("SpinLockAddress = 0x12345678,", self.read_ctf()[0])

    def test_ctf_is_not_written_to_the_standard_output(self):
        self.out = "-"
        result = self.convert("--ctf", etl.file(*self.events_at(10)), status=2)
        self.assertIn("--ctf: the trace is a directory", result.stderr)

    def test_directory_with_files_is_refused(self):
        os.mkdir(self.out)
        with open(os.path.join(self.out, "x"), "w"):
            pass
        result = self.convert("--ctf", etl.file(), status=1)
        self.assertIn("is not a new or an empty directory", result.stderr)
        self.assertEqual(os.listdir(self.out), ["x"])


class Perfetto(Case):
    US = 1e6 / etl.PERF_FREQ

    @staticmethod
    def decode(data):
        return perfetto_decoder.Trace(data, round(etl.START_CLOCK * 1e9 / etl.PERF_FREQ))

    def convert_to_perfetto(self, *events):
        self.convert("--perfetto", etl.file(*events))
        with open(self.out, "rb") as stream:
            return self.decode(stream.read())

    @staticmethod
    def without_class_slices(trace):
        return [made for made in trace.slices if made["group"] != "waits, by class of locks"]

    def slices_of_locks(self, *events):
        return self.without_class_slices(self.convert_to_perfetto(*events))

    def test_spin_lock_makes_wait_and_hold_slices(self):
        wait, hold = self.slices_of_locks(*self.events_at(2000000))
        us = self.US
        self.assertAlmostEqual(hold["ts"] + hold["dur"], 2000000 * us)
        self.assertAlmostEqual(hold["dur"], 1001 * us)
        self.assertAlmostEqual(wait["ts"] + wait["dur"], hold["ts"])
        self.assertAlmostEqual(wait["dur"], 303 * us)
        self.assertEqual(hold["name"], "0xffff888012345678")
        self.assertEqual((wait["cat"], hold["cat"]), ("wait", "hold"))
        self.assertTrue(hold["args"]["dpc"])

    def test_many_waiters_of_a_class_have_few_tracks(self):
        tasks = 20
        trace = self.convert_to_perfetto(*(etl.linux_lock_event(
            "mutex", hold=2000, wait=2000 * (tasks - 1), thread=100 + number % tasks,
            time_stamp=etl.START_CLOCK + etl.PERF_FREQ + number * 2000) for number in range(40)))
        self.assertLessEqual(len({made["number"] for made in trace.slices
                                  if made["group"] == "waits, by class of locks"}), 8)

    def test_fixed_names_are_written_once(self):
        trace = self.convert_to_perfetto(*(etl.perfinfo(0x0524, etl.context_swap_data(new=0, old=0))
                                           for _ in range(20)))
        self.assertEqual(trace.resets, 1)

    def test_records_of_mode_waits_make_no_hold_slices(self):
        def zero_hold_events(**changes):
            return self.events_at(10, make=lambda: etl.spin_lock(
                acquire=2002, release=2002, depth=0, **changes))
        (wait,) = self.slices_of_locks(etl.ntklog_rundown(2), *zero_hold_events(rule=2))
        self.assertEqual((wait["cat"], wait["name"]), ("wait", "wait: 0xffff888012345678"))
        self.assertAlmostEqual(wait["dur"], 303 * 1e6 / etl.PERF_FREQ)
        self.assertEqual(wait["args"], {"spins": 44, "caller": "0xffffffff81234567", "thread": 55,
                                        "dpc": True, "isr": False})
        (wait,) = self.slices_of_locks(etl.ntklog_rundown(2),
                                       *zero_hold_events(rule=2, caller=0, spins=0))
        self.assertNotIn("caller", wait["args"])
        # The rules are found in a stream too, and in a rundown at the end.
        data = etl.header_buffer(3) + etl.buffer(zero_hold_events(rule=2)) + \
            etl.buffer([etl.ntklog_rundown(2, end=True)], sequence=2)
        result = subprocess.run([NTKLOG, "convert", "--perfetto", "-", "-"], input=data,
                                capture_output=True, check=True)
        slices = self.without_class_slices(self.decode(result.stdout))
        self.assertEqual([made["cat"] for made in slices], ["wait"])
        # Without ntklog's rundown the byte is no rule.
        wait, hold = self.slices_of_locks(*zero_hold_events(rule=2))
        self.assertEqual((wait["cat"], hold["cat"]), ("wait", "hold"))
        wait, hold = self.slices_of_locks(etl.ntklog_rundown(1), *zero_hold_events(rule=1))
        self.assertEqual((wait["args"], hold["cat"]), ({"spins": 44}, "hold"))
        self.assertNotIn("depth", hold["args"])
        (hold,) = self.slices_of_locks(etl.ntklog_rundown(0, blockers=1),
                                       *zero_hold_events(rule=12, spins=0))
        self.assertEqual(hold["cat"], "hold")

    def test_release_whose_hold_has_no_known_start_is_an_instant(self):
        def spin_event(time, **changes):
            return etl.perfinfo(0x0529, etl.spin_lock(
                acquire=etl.START_CLOCK + time, release=etl.START_CLOCK + time, depth=0, **changes),
                time_stamp=etl.START_CLOCK + time)
        trace = self.convert_to_perfetto(etl.ntklog_rundown(3, blockers=1),
                                         spin_event(100, rule=28, wait=0, spins=0),
                                         spin_event(120, rule=2, wait=60, spins=1, thread=56))
        release, wait = self.without_class_slices(trace)
        self.assertEqual((release["cat"], release["name"], release["group"], release["track"]),
                         ("release", "release: 0xffff888012345678", "spin locks, by CPU", wait["track"]))
        self.assertEqual(release["args"], {"caller": "0xffffffff81234567", "thread": 55,
                                           "dpc": True, "isr": False})
        self.assertAlmostEqual(release["ts"], 100 * self.US)
        self.assertNotIn("dur", release)
        self.assertEqual(trace.flows, [(release, wait)])
        # Without ntklog's rundown the byte is no rule.
        (hold,) = self.slices_of_locks(spin_event(100, rule=28, wait=0, spins=0))
        self.assertEqual((hold["cat"], hold["dur"]), ("hold", 0))

    def test_resource_makes_wait_and_hold_slices(self):
        wait, hold = self.slices_of_locks(*self.events_at(10, hook_id=0x052B,
                                                          make=etl.resource_data))
        self.assertEqual((wait["track"], hold["track"], hold["args"]["class"]),
                         ("thread 55", "thread 55", "exclusive"))

    def test_wait_whose_hold_is_unknown_is_a_slice(self):
        """The acquire time of a lock that another CPU released is not known."""
        us = 1e6 / etl.PERF_FREQ

        def resource_event(acquire, wait, bits=64):
            data = bytearray(etl.resource_data(bits, hold=0, wait=wait))
            data[:8] = acquire.to_bytes(8, "little")
            return etl.perfinfo(0x052B, bytes(data), time_stamp=etl.START_CLOCK + 9000)
        for acquire, end in ((etl.START_CLOCK + 5000, 5000 * us),
                             # If the acquire time is not known, or is after the release, the
                             # wait ends at the release.
                             (0, 9000 * us), (2, 9000 * us), (etl.START_CLOCK + 9001, 9000 * us)):
            wait, hold = self.slices_of_locks(resource_event(acquire, 303))
            self.assertEqual((wait["cat"], hold["cat"]), ("wait", "hold"))
            self.assertAlmostEqual(wait["ts"] + wait["dur"], end)
            self.assertAlmostEqual(wait["dur"], 303 * us)
            self.assertAlmostEqual(hold["ts"], 9000 * us)
            self.assertEqual(hold["dur"], 0)
        # WaitTime 0 means no wait, and 1 a wait whose length is not known.
        for wait in 0, 1:
            (hold,) = self.slices_of_locks(resource_event(etl.START_CLOCK + 5000, wait))
            self.assertEqual(hold["cat"], "hold")

    def test_sleeping_locks_have_their_caller_with_and_without_a_filter(self):
        address, at = 0xFFFF888012345678, etl.START_CLOCK + etl.PERF_FREQ
        data = etl.file(etl.caller_event(address, 0xFFFFFFFF81234567, time_stamp=at),
                        etl.linux_lock_event("mutex", address=address),
                        etl.linux_lock_event("mutex", time_stamp=at + 9))
        for options, count in (((), 4), (("--filter", "hold > 0ns"), 4),
                               (("--filter", "caller == 0xffffffff81234567"), 2)):
            self.convert("--perfetto", data, 0, *options)
            with open(self.out, "rb") as stream:
                slices = self.without_class_slices(self.decode(stream.read()))
            self.assertEqual([(made["cat"], made["args"].get("caller")) for made in slices],
                             [("wait", None), ("hold", "0xffffffff81234567"), ("wait", None),
                              ("hold", None)][:count])

    def test_sleeping_locks_make_slices_with_their_kind(self):
        for kind in etl.LINUX_KINDS:
            wait, hold = self.slices_of_locks(etl.linux_lock_event(kind, 0x42))
            self.assertEqual((wait["cat"], wait["track"], wait["args"]),
                             ("wait", "thread 55", {"kind": kind, "class": "shared"}))
            self.assertEqual((hold["cat"], hold["args"]),
                             ("hold", {"kind": kind, "class": "shared", "contention": 66}))
        # Records without a release, and records of unknown classes, make no slice.
        self.assertEqual(self.slices_of_locks(
            etl.linux_lock_event("mutex", 0x224), etl.linux_lock_event("mutex", 0x08),
            etl.perfinfo(0x052B, etl.resource_data(action=0x80990022))), [])

    def test_context_switches_make_slices_of_threads(self):
        (run_,) = self.slices_of_locks(
            *self.events_at(10, hook_id=0x0524, version=4,
                            make=lambda: etl.context_swap_data(new=7, old=0)),
            *self.events_at(30, hook_id=0x0524, version=4,
                            make=lambda: etl.context_swap_data(new=0, old=7)))
        self.assertEqual(run_["name"], "thread 7")
        self.assertAlmostEqual(run_["dur"], 10)

    def test_file_without_events_makes_no_slices(self):
        trace = self.convert_to_perfetto()
        self.assertEqual((trace.slices, trace.counters, trace.flows), ([], {}, []))
        self.assertEqual(set(trace.tracks.values()), {
            ("spin locks, by CPU", None), ("resources and sleeping locks, by task", None),
            ("tasks, by CPU", None), ("waits, by class of locks", None)})

    def test_file_that_is_read_is_not_overwritten(self):
        data = etl.file(*self.events_at(1, 2))
        hard, symbolic = self.path + ".hard", self.path + ".symbolic"
        self.write(data)
        os.link(self.path, hard)
        os.symlink(self.path, symbolic)
        for output in self.path, hard, symbolic:
            for how in "--perfetto", "--pprof":
                result = run_command(NTKLOG, "convert", how, output, self.path)
                self.assertEqual(result.returncode, 2)
                self.assertIn("choose another name", result.stderr)
        with open(self.path, "rb") as stream:
            result = subprocess.run((NTKLOG, "convert", "--perfetto", self.path, "-"),
                                    stdin=stream, capture_output=True, timeout=600)
        self.assertEqual(result.returncode, 2)
        with open(self.path, "rb") as stream:
            self.assertEqual(stream.read(), data)

    def test_absent_file_of_names_is_not_written(self):
        self.write(etl.file(*self.events_at(1, 2)))
        directory, name = os.path.split(self.path)
        for output in self.path + ".names", os.path.join(directory, ".", name + ".names"):
            for how in "--perfetto", "--pprof":
                result = run_command(NTKLOG, "convert", how, output, self.path)
                self.assertEqual(result.returncode, 2)
                self.assertIn("is the name of the trace's file of names", result.stderr)
        self.assertFalse(os.path.exists(self.path + ".names"))

    def test_slices_do_not_overlap(self):
        """Locks released in any order: acquired at these times, of 2 MHz."""
        def lock_events(*times, processor=0):
            return [etl.perfinfo(0x0529, etl.spin_lock(
                address=0x100 + i, acquire=etl.START_CLOCK + start,
                release=etl.START_CLOCK + end, spins=i % 2, wait=5),
                time_stamp=etl.START_CLOCK + end + i % 3) for i, (start, end) in enumerate(times)]
        crossed = self.slices_of_locks(*lock_events((100, 200), (150, 300), (250, 400), (350, 360),
                                                    (180, 500)))
        self.assertEqual({made["track"] for made in crossed}, {"cpu 0", "cpu 0 (2)", "cpu 0 (3)"})
        nested = self.slices_of_locks(*lock_events((130, 140), (150, 160), (120, 170), (100, 200),
                                                   (200, 300)))
        self.assertEqual({made["track"] for made in nested}, {"cpu 0"})
        self.assertEqual([made["inside"] for made in nested if made["cat"] == "hold"],
                         [2, 2, 1, 0, 0])
        # Slices that begin at the same time would nest in the order of their packets.
        same = self.slices_of_locks(*lock_events((100, 130), (100, 150)))
        self.assertEqual([(made["track"], made["inside"]) for made in same
                          if made["cat"] == "hold"], [("cpu 0", 0), ("cpu 0 (2)", 0)])
        seed, times = 1, []
        for end in range(1000, 9000, 7):
            seed = seed * 6364136223846793005 + 1442695040888963407 & 2 ** 64 - 1
            times.append((end - 1 - (seed >> 33) % 90, end))
        self.convert("--perfetto", etl.long_file(lock_events(*times)))
        with open(self.out, "rb") as stream:
            slices = self.without_class_slices(self.decode(stream.read()))
        self.assertEqual(sum(made["cat"] == "hold" for made in slices), len(times))
        # A slice that fits into no lane has a lane of its own, all of one name.
        alone = [made["number"] for made in slices if made["track"] == "cpu 0 (9)"]
        self.assertGreater(len(set(alone)), 1)

    def test_tracks_have_names(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("thread 55 work\"er\n")
        trace = self.convert_to_perfetto(
            *self.events_at(9000), *self.events_at(9020, hook_id=0x052B, make=etl.resource_data),
            *self.events_at(9030, hook_id=0x0524, version=4,
                            make=lambda: etl.context_swap_data(new=7)),
            *self.events_at(9040, hook_id=0x0524, version=4,
                            make=lambda: etl.context_swap_data(old=7)))
        self.assertEqual([track for track in trace.tracks.values() if track[1]], [
            ("cpu 0", "spin locks, by CPU"),
            ("0xffff888012345678", "waits, by class of locks"),
            ('work"er 55', "resources and sleeping locks, by task"),
            ("cpu 0", "tasks, by CPU"),
            ("0xffff888012345678: waiters", "waits, by class of locks")])

    def test_waits_of_a_class_have_a_track_and_a_counter(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("thread 8 b\nlock 100 queue.lock\nlock 200 queue.lock\n")

        def spin_event(address, wait, hold, end, thread):
            return etl.perfinfo(0x0529, etl.spin_lock(
                address=address, acquire=etl.START_CLOCK + hold, release=etl.START_CLOCK + end,
                wait=hold - wait, spins=hold > wait, thread=thread),
                time_stamp=etl.START_CLOCK + end)
        trace = self.convert_to_perfetto(spin_event(0x100, 0, 4096, 8192, 7),
                                         spin_event(0x200, 4096, 12288, 16384, 8),
                                         spin_event(0x200, 20000, 20000, 30000, 9))
        self.assertEqual([(made["track"], made["name"], made["cat"], made["ts"], made["dur"])
                          for made in trace.slices if made["group"].startswith("waits")],
                         [("queue.lock", "thread 7", "class_wait", 0, 2048),
                          ("queue.lock", "b 8", "class_wait", 2048, 4096)])
        # Slots of a power of two: the average number of waiters in each.
        (counter,) = trace.counters.items()
        self.assertEqual(counter[0], "queue.lock: waiters")
        self.assertEqual(counter[1][-1][1], 0)
        total = sum(value * (then - now) for (now, value), (then, _) in
                    zip(counter[1], counter[1][1:]))
        self.assertAlmostEqual(total, 2048 + 4096)
        self.assertEqual(max(value for _, value in counter[1]), 1)

    @staticmethod
    def spin_event(wait, hold, end, address=0x100, late=0, **changes):
        return etl.perfinfo(0x0529, etl.spin_lock(
            address=address, acquire=etl.START_CLOCK + hold, release=etl.START_CLOCK + end,
            wait=hold - wait, spins=hold > wait, **changes),
            time_stamp=etl.START_CLOCK + end + late)

    @staticmethod
    def mutex_event(wait, hold, end, late=0):
        return etl.linux_lock_event("mutex", address=0x100, acquire=etl.START_CLOCK + hold,
                                    hold=end - hold, wait=hold - wait,
                                    time_stamp=etl.START_CLOCK + end + late)

    def test_flows_do_not_depend_on_the_order_of_the_records(self):
        """The record of the second hold is written when others have got the lock since."""
        late = etl.PERF_FREQ // 20
        for make in self.spin_event, self.mutex_event:
            records = [make(0, 0, 20), make(5, 30, 100, late=late),
                       make(10, 110, 200), make(60, 210, 250)]
            records.append(records.pop(1))
            trace = self.convert_to_perfetto(*records)
            self.assertEqual(sorted((hold["ts"], wait["ts"]) for hold, wait in trace.flows),
                             [(0, 5 * self.US), (30 * self.US, 10 * self.US),
                              (110 * self.US, 60 * self.US)])

    def test_a_flow_leads_from_the_hold_to_the_next_owner(self):
        spin_event = self.spin_event
        trace = self.convert_to_perfetto(spin_event(0, 0, 100), spin_event(50, 110, 200),
                                         spin_event(300, 300, 400),
                                         spin_event(410, 420, 500), spin_event(50, 60, 600, 0x200))
        self.assertEqual([(hold["cat"], hold["ts"], wait["cat"], wait["ts"])
                          for hold, wait in trace.flows], [("hold", 0, "wait", 50 * self.US)])
        # A wait whose hold is not known ends a flow too, and begins none.
        trace = self.convert_to_perfetto(etl.ntklog_rundown(2), spin_event(0, 0, 100, rule=4),
                                         spin_event(50, 110, 110, rule=2),
                                         spin_event(60, 200, 200, rule=2))
        self.assertEqual([(hold["ts"], wait["ts"]) for hold, wait in trace.flows],
                         [(0, 50 * self.US)])

    def test_names_of_the_trace_are_written_once(self):
        self.assertEqual(self.convert_to_perfetto(*self.events_at(*range(100, 3000, 100))).resets,
                         1)
        count = 70000
        self.convert("--perfetto", etl.long_file([etl.perfinfo(
            0x0529, etl.spin_lock(address=0x1000 + i, spins=0, rule=0),
            time_stamp=etl.START_CLOCK + i) for i in range(count)]))
        with open(self.out, "rb") as stream:
            trace = self.decode(stream.read())
        self.assertEqual([made["name"] for made in trace.slices],
                         ["0x%x" % (0x1000 + i) for i in range(count)])
        self.assertEqual(trace.resets, 2)

    def test_hold_since_the_clock_began_is_before_the_start(self):
        trace = self.convert_to_perfetto(*self.events_at(10, make=lambda: etl.spin_lock(
            acquire=0, release=etl.START_CLOCK, spins=0)))
        self.assertEqual([made["ts"] for made in trace.slices],
                         [-etl.START_CLOCK * self.US])

    def test_names_that_are_not_utf_8_are_replaced(self):
        with open(self.path + ".names", "wb") as stream:
            stream.write(b"thread 7 caf\xc3\nffffffff81234567 T q\"\\\x1b[31m\xc2\x9b1m\n"
                         b"ffff888012345678 T \xe6\x97\xa5\xed\xa0\x80\xff\n")
        slices = self.slices_of_locks(
            *self.events_at(10), *self.events_at(20, hook_id=0x0524, version=4,
                                                 make=lambda: etl.context_swap_data(new=7, old=0)),
            *self.events_at(30, hook_id=0x0524, version=4,
                            make=lambda: etl.context_swap_data(new=0, old=7)))
        slices = {made["cat"]: made for made in slices}
        self.assertEqual((slices["hold"]["name"], slices["run"]["name"]),
                         ("\u65e5????", "caf? 7"))
        self.assertEqual(slices["hold"]["args"]["caller"], 'q"\\?[31m??1m')
        result = run_command(NTKLOG, "report", "--json", self.path)
        self.assertEqual(json.loads(result.stdout)["threads"][0]["name"], "caf?")
        self.assertEqual(json.loads(result.stdout)["locks"][0]["lock"], "\u65e5????")

    def test_selected_events_are_counted(self):
        with open(self.path, "wb") as stream:
            stream.write(etl.file(*self.events_at(10, 20, 30), etl.perfinfo(0x1234, b"")))
        for options, words in ((("--from", "8us", "--to", "12us"), "1 events converted, 0 not"),
                               (("--filter", "Event == SpinLock"), "3 events converted, 0 not"),
                               (("--filter", "HookId == 0x1234"), "0 events converted, 1 not")):
            result = run_command(NTKLOG, "convert", "--perfetto", self.out, *options, self.path)
            self.assertIn(words, result.stderr, options)
        result = run_command(NTKLOG, "convert", "--perfetto", self.out, "--filter", "lock == x",
                             self.path)
        self.assertEqual(result.returncode, 2)


class Stacks(Case):

    TIME = etl.START_CLOCK + 2000000
    CHAIN = [0xFFFFFFFF81002010, 0xFFFFFFFF81000010]

    def file_with_stacks(self, *events):
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write("ffffffff81000000 T root\nffffffff81002000 T inner\n"
                         "ffffffff81004000 T behind\n")
        return etl.file(etl.stacks_rundown(7, time_stamp=self.TIME - 1),
                        etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=self.TIME),
                        etl.stack_event(self.TIME, self.CHAIN),
                        etl.perfinfo(0x052B, etl.resource_data(), time_stamp=self.TIME + 2),
                        etl.stack_event(self.TIME + 2, [0x10, *self.CHAIN]),
                        etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=self.TIME + 4), *events)

    def test_ctf_has_stacks(self):
        result = self.convert("--ctf", self.file_with_stacks())
        self.assertIn("1 events have no stack", result.stderr)
        result = run_command("babeltrace2", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        _, lock, resource, without = result.stdout.splitlines()
        self.assertIn("callstack_kernel_length = 2, callstack_kernel = [ [0] = 0xFFFFFFFF81002010,"
                      " [1] = 0xFFFFFFFF81000010 ], callstack_symbols = "
                      '[ [0] = "inner+0x10", [1] = "root+0x10" ]', lock)
        self.assertIn('callstack_symbols = [ [0] = "", [1] = "inner+0x10", ', resource)
        self.assertNotIn("callstack", without)

    def test_ctf_has_stacks_that_only_middle_buffers_have(self):
        """The tool looks at none of the buffers in the middle beforehand."""
        buffers = [[etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=self.TIME + 10 * i)]
                   for i in range(9)]
        buffers[4].insert(0, etl.stacks_rundown(2, time_stamp=self.TIME + 39))
        buffers[4].append(etl.stack_event(self.TIME + 40, self.CHAIN))
        buffers[5].insert(0, etl.stacks_rundown(0, time_stamp=self.TIME + 49))
        self.convert("--ctf", etl.header_buffer(1 + len(buffers)) + b"".join(
            etl.buffer(events, sequence=1 + i) for i, events in enumerate(buffers)))
        lines = [line for line in run_command("babeltrace2", self.out).stdout.splitlines()
                 if " SpinLock: " in line]
        self.assertEqual(["callstack" in line for line in lines], [i == 4 for i in range(9)])

    def test_ctf_without_stacks_has_no_callstack_field(self):
        self.convert("--ctf", etl.file(*self.events_at(2000000)))
        with open(os.path.join(self.out, "metadata"), encoding="ascii") as stream:
            self.assertNotIn("callstack", stream.read())

    def test_perfetto_has_stacks(self):
        self.convert("--perfetto", self.file_with_stacks())
        with open(self.out, "rb") as stream:
            data = stream.read()
        holds = [made for made in perfetto_decoder.Trace(data).slices if made["cat"] == "hold"]
        self.assertEqual([made["stack"] for made in holds],
                         [["inner+0x10", "root+0x10"], ["0x10", "inner+0x10", "root+0x10"], None])
        self.assertEqual(data.count(b"root+0x10"), 1)

    def test_perfetto_has_only_fields_of_its_messages(self):
        """protoc decodes all of it: no field has a number or a type that the messages lack."""
        release = etl.perfinfo(0x0529, etl.spin_lock(rule=28))
        self.convert("--perfetto",
                     self.file_with_stacks(etl.ntklog_rundown(3, blockers=1), release))
        proto = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../output")
        with open(self.out, "rb") as stream:
            result = subprocess.run(
                ["protoc-c", "--proto_path", proto, "--decode", "perfetto.Trace",
                 "perfetto.proto"], stdin=stream, capture_output=True, text=True, timeout=600)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotRegex(result.stdout, r"(?m)^ *\d+[:{ ]")
        for words in "type: TYPE_SLICE_BEGIN", "type: TYPE_INSTANT", "type: TYPE_COUNTER", "unit: UNIT_COUNT", \
                "callstacks {", "rel_pc: 18446744071578853392":
            self.assertIn(words, result.stdout)


class CommandLine(Case):
    def test_exactly_one_format_is_required(self):
        for options in ([], ["--ctf", "a", "--perfetto", "b"], ["--pprof", "a", "--ctf", "b"]):
            result = run_command(NTKLOG, "convert", *options, "x")
            self.assertEqual(result.returncode, 2)
            self.assertIn("give exactly one of --ctf, --perfetto and --pprof", result.stderr)

    def test_full_device_is_reported(self):
        self.out = "/dev/full"
        self.assertIn("/dev/full: cannot write",
                      self.convert("--perfetto", etl.file(*self.events_at(1)), 1).stderr)


if __name__ == "__main__":
    tap.main()
