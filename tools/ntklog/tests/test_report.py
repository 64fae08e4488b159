#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: the tables of locks, and the outputs of files with NT's resources alone."""

import json
import struct
import subprocess

import etl_writer as etl
import perfetto_decoder
import tap
from report_case import Case, NS, lock
import tool
from tool import NTKLOG, run_tool, join_wrapped_lines


class SpinLocks(Case):
    def test_rates_have_decimals(self):
        """Three events in four seconds are not 0 a second."""
        (row,) = self.json_of(etl.spinlock_rundown(1, 1, 1, 0), lock(), lock(), etl.perfinfo(
            0x0529, etl.spin_lock(spins=0), time_stamp=etl.START_CLOCK + 4 * etl.PERF_FREQ))["locks"]
        self.assertEqual((row["acquisitions"], row["per_second"]), (3, .75))

    def test_records_have_the_weights_of_their_sample_rates(self):
        """Weights: 3 contended (1 in 10 was written), 2 that did not wait (1 in 2000), 1 with a
        long hold (all).
        """
        report = self.json_of(etl.spinlock_rundown(2, 10, 2000, 1000000),
                              lock(5), lock(5), lock(2), lock(), lock(), lock(hold=1000001))
        self.assertEqual(report["rates"]["spinlock"], {
            "spin_threshold": 2, "contention_sample_rate": 10,
            "acquire_sample_rate": 2000, "hold_threshold": 1000000})
        (row,) = report["locks"]
        self.assertEqual(row["sampled"], 6)
        self.assertEqual(row["acquisitions"], 30 + 4000 + 1)
        self.assertAlmostEqual(row["contended"], 30 / 4031)
        self.assertEqual(row["spins"], 10 * (5 + 5 + 2))
        # The observed time is one second.
        self.assertEqual(row["per_second"], row["acquisitions"])
        self.assertAlmostEqual(row["waiting"], 3 * 10 * 10 / etl.PERF_FREQ)
        self.assertAlmostEqual(row["wait_total_ns"], 3 * 10 * 10 * NS)
        self.assertAlmostEqual(row["hold_total_ns"],
                               (30 * 100 + 4000 * 100 + 1000001) * NS)

    def test_records_sampled_at_the_acquisition_have_no_hold_threshold(self):
        """A long hold of an NT lock has the weight 1."""
        report = self.json_of(etl.spinlock_rundown(1, 10, 2000, 1000000), etl.ntklog_rundown(1),
                              *(lock(spins, rule=1, hold=1000001, depth=0) for spins in (0, 5)),
                              lock(hold=1000001, address=0xFFFF888000000000))
        self.assertEqual(report["rates"]["linux"], {"mode": "sampled"})
        rows = {row["lock"]: row for row in report["locks"]}
        row = rows["0xffff888012345678"]
        self.assertEqual(row["acquisitions"], 2000 + 10)
        self.assertAlmostEqual(row["hold_total_ns"], 2010 * 1000001 * NS)
        self.assertIsNone(row["depth"])
        self.assertEqual(rows["0xffff888000000000"]["acquisitions"], 1)
        self.assertIn('mode "sampled"', self.report().stdout)

    def test_rule_byte_without_ntklogs_rundown_is_ignored(self):
        """The byte is reserved in NT's record."""
        report = self.json_of(etl.spinlock_rundown(1, 10, 2000, 1000000),
                              lock(rule=1, hold=1000001), lock(rule=2))
        self.assertEqual(report["locks"][0]["acquisitions"], 2001)
        self.assertIsNotNone(report["locks"][0]["hold_total_ns"])
        self.assertNotIn("linux", report["rates"])

    def test_rows_of_mode_waits_have_no_holds_and_no_acquisitions(self):
        report = self.json_of(etl.spinlock_rundown(1, 10, 2000, 1000000), etl.ntklog_rundown(2),
                              lock(5, rule=2, hold=0, depth=0), lock(7, rule=2, hold=0, depth=0))
        row = report["locks"][0]
        self.assertEqual(row["spins"], 120)
        self.assertAlmostEqual(row["wait_total_ns"], 2 * 10 * 10 * NS)
        for column in ("acquisitions", "per_second", "contended", "hold_total_ns", "hold_mean_ns",
                       "hold_p95_ns", "hold_max_ns", "depth", "interrupted"):
            self.assertIsNone(row[column], column)
        self.assertIn('mode "waits"', self.report().stdout)
        info = run_tool("info", self.path)
        self.assertRegex(info.stdout, r"(?m)^ +linux *\n +mode +waits$")

    def test_waits_mode_reports_its_unmeasured_values(self):
        """With two CPUs, one holds the lock and the other waits at the head of the queue."""
        def report_of(group, rate, cpus):
            data = bytearray(etl.header_buffer(2))
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x0C, cpus)
            mask = [0] * 8
            mask[group >> 29] = group & 0x1FFFFFFF
            struct.pack_into("<8I", data, at, *mask)
            self.write(data + etl.buffer([etl.spinlock_rundown(1, rate, 1000, 0),
                                          etl.ntklog_rundown(2), lock(5, rule=2, hold=0, depth=0)]))
            return join_wrapped_lines(self.report().stdout)
        at = etl.header_buffer(2).index(struct.pack("<BBHH", 2, 0xC0, 0x44, 0x05)) + 0x20 - 2
        for rate, words in (1, "all were written"), (10, "1 in 10 was written"):
            text = report_of(0xA0000001, rate, 4)
            self.assertNotIn("acquisitions that waited", text)
            self.assertIn("of the waits in a queue " + words, text)
            self.assertIn("only two CPUs use is never seen\n", text)
            self.assertIn("NT's spin locks: ", report_of(0x20010000, rate, 4))
        self.assertIn("that is every spin lock", report_of(0xA0000001, 1, 2))

    def test_records_of_blockers_are_in_no_estimate(self):
        other = {"address": 0xFFFF888000000000, "caller": 0xFFFFFFFF80000000}
        events = (etl.spinlock_rundown(1, 1, 1000, 1000000), etl.ntklog_rundown(blockers=10),
                  lock(hold=100), lock(hold=200, rule=4), lock(hold=300, rule=12),
                  lock(5, hold=400, rule=12), lock(hold=5000, rule=12, **other))
        report = self.json_of(*events)
        self.assertEqual(report["rates"]["blockers"], 10)
        for table in "locks", "callers":
            (row,) = report[table]
            self.assertEqual((row["sampled"], row["acquisitions"], row["contended"]), (2, 2000, 0))
            self.assertAlmostEqual(row["hold_total_ns"], 1000 * (100 + 200) * NS)
        text = self.report().stdout
        self.assertIn("blockers: 1 in 10 releases that left a waiter behind was written", text)
        only = self.json_of(*events, options=("--filter", "Rule == blocker"))
        self.assertEqual((only["events"], only["locks"]), (3, []))

    def test_blockers_are_of_nts_locks_alone_in_mode_waits(self):
        linux = "of Linux' locks there are none in this mode"
        for rate, words in ((10, "1 in 10 releases of NT's queued locks that left a waiter behind was"),
                            (1, "all releases of NT's queued locks that left a waiter behind were")):
            report = self.json_of(etl.spinlock_rundown(), etl.ntklog_rundown(2, blockers=rate))
            self.assertEqual((report["rates"]["linux"], report["rates"]["blockers"]),
                             ({"mode": "waits", "blockers": 0}, rate))
            text = join_wrapped_lines(self.report().stdout)
            self.assertIn("blockers: " + words, text)
            self.assertIn(linux, text)
            self.assertRegex(run_tool("info", self.path).stdout,
                             r"(?m)^ +linux *\n +mode +waits\n +blockers +0\n +blockers +%d$" % rate)
        for mode, name in (0, "full"), (1, "sampled"), (3, "holders"):
            report = self.json_of(etl.spinlock_rundown(), etl.ntklog_rundown(mode, blockers=1))
            self.assertEqual(report["rates"]["linux"], {"mode": name})
            text = join_wrapped_lines(self.report().stdout)
            self.assertIn("blockers: all releases that left a waiter behind were", text)
            self.assertNotIn(linux, text)
            self.assertEqual("known only since the release before" in text, name != "full")

    def test_interrupted_holds_have_a_mean_of_their_own(self):
        report = self.json_of(etl.spinlock_rundown(1, 1, 1000, 1000000),
                              lock(interrupts=0, hold=100), lock(interrupts=0, hold=200),
                              lock(interrupts=3, hold=1000), lock(5, interrupts=1, hold=9000))
        row = report["locks"][0]
        self.assertAlmostEqual(row["interrupted"], 1001 / 3001)
        self.assertAlmostEqual(row["interrupted_mean_ns"], (1000 * 1000 + 9000) / 1001 * NS)
        self.assertAlmostEqual(row["interrupted_max_ns"], 9000 * NS)
        self.assertAlmostEqual(row["undisturbed_mean_ns"], 150 * NS)

    def test_holds_without_interrupts_have_no_interrupted_mean(self):
        row = self.json_of(etl.spinlock_rundown(), lock(interrupts=0))["locks"][0]
        self.assertEqual(row["interrupted"], 0)
        self.assertIsNone(row["interrupted_mean_ns"])
        self.assertAlmostEqual(row["undisturbed_mean_ns"], 100 * NS)

    def test_few_spins_are_not_sampled_by_contention(self):
        """A record with few spins was written for its hold time alone and has the weight 1."""
        report = self.json_of(etl.spinlock_rundown(5, 10, 2000, 1000000), lock(4, hold=1000001))
        self.assertEqual(report["locks"][0]["acquisitions"], 1)

    def test_estimates_without_rates_are_the_numbers_of_records(self):
        report = self.json_of(lock(5), lock())
        self.assertEqual(report["rates"], {})
        self.assertEqual(report["locks"][0]["acquisitions"], 2)
        # Beside each of them about 1000 uncontended ones were not written, so the share is not
        # known.
        self.assertIsNone(report["locks"][0]["contended"])
        self.assertRegex(self.report("--table", "locks", "--wide").stdout,
                         r"0xffff888012345678 +2 +2 +- ")
        self.assertIn("spin locks: the file does not say how they were sampled", self.report().stdout)

    def test_nothing_is_estimated_where_all_is_written(self):
        self.json_of(etl.spinlock_rundown(1, 1, 1, 1000000), lock(5), lock())
        self.assertRegex(self.report("--table", "locks", "--wide").stdout,
                         r"0xffff888012345678 +2 +2 +")

    def test_rates_that_come_late_in_the_file_are_used(self):
        """In `cat header cpu0 cpu1` the rundown is in the first buffer of processor 1."""
        data = etl.header_buffer(4) + etl.buffer([lock()]) + \
            etl.buffer([lock()], sequence=3) + \
            etl.buffer([etl.spinlock_rundown(acquire=3000)], processor=1, sequence=2)
        self.assertEqual(self.json_of(data=data)["locks"][0]["acquisitions"], 6000)

    def test_rules_are_taken_from_the_rundown_at_the_stop(self):
        """A flight recording without its start may have the rules only in the rundown of the stop.
        """
        data = etl.header_buffer(5) + \
            etl.buffer([etl.spinlock_rundown(), etl.resource_rundown(), lock(rule=12)]) + \
            etl.buffer([lock(rule=12)], sequence=2) + etl.buffer([lock(rule=12)], sequence=3) + \
            etl.buffer([etl.ntklog_rundown(blockers=10, end=True)], sequence=4)
        report = self.json_of(data=data)
        self.assertEqual(report["locks"], [])
        self.assertEqual(report["rates"]["linux"]["mode"], "full")
        # From a stream the tool reads more before it starts, to find the rules.
        result = subprocess.run([NTKLOG, "report", "--json", "-"], input=data, capture_output=True,
                                check=True)
        self.assertEqual(json.loads(result.stdout)["locks"], [])

    def test_rates_at_the_end_alone_are_used(self):
        """xperf writes the rates in a rundown at the stop."""
        data = etl.header_buffer(5) + etl.buffer([lock()]) + \
            etl.buffer([lock()], sequence=2) + etl.buffer([lock()], sequence=3) + \
            etl.buffer([lock(), etl.spinlock_rundown(acquire=3000, end=True)], sequence=4)
        report = self.json_of(data=data)
        self.assertEqual(report["locks"][0]["acquisitions"], 12000)
        self.assertFalse(report["rates_changed"])

    def test_rates_that_changed_are_reported(self):
        report = self.json_of(etl.spinlock_rundown(), lock(),
                              etl.spinlock_rundown(acquire=5000, end=True))
        self.assertTrue(report["rates_changed"])
        self.assertIn("rates were changed", self.report().stdout)

    def test_rates_of_zero_are_ignored(self):
        report = self.json_of(etl.spinlock_rundown(acquire=0), lock())
        self.assertEqual(report["rates"], {})
        self.assertEqual(report["locks"][0]["acquisitions"], 1)

    def test_rates_of_spin_locks_are_printed_in_words(self):
        self.write(etl.file(etl.spinlock_rundown(), lock(5)))
        self.assertIn("spin locks: all acquisitions that waited were written; of those that "
                      "did not wait 1 in 1000\n", join_wrapped_lines(self.report().stdout))
        self.write(etl.file(etl.spinlock_rundown(2, 10, 2000, 1000000), lock(5)))
        self.assertIn("spin locks: 1 in 10 acquisitions that waited 2 spins or more was "
                      "written; of those that did not wait 1 in 2000; and all held for more "
                      "than 500ms (1000000 cycles)", join_wrapped_lines(self.report().stdout))

    def test_means_and_percentiles_are_within_3_percent(self):
        """Durations are 1 to 1000 cycles; the percentiles are within 3 percent."""
        data = etl.header_buffer(26)
        for i in range(25):
            data += etl.buffer([lock(1, hold=i * 40 + j + 1, wait=2 * (i * 40 + j + 1))
                                for j in range(40)], sequence=i + 1)
        row = self.json_of(data=data)["locks"][0]
        self.assertAlmostEqual(row["hold_mean_ns"], 500.5 * NS)
        self.assertEqual(row["hold_max_ns"], 1000 * NS)
        self.assertEqual(row["wait_max_ns"], 2000 * NS)
        for percent in (50, 95, 99):
            self.assertAlmostEqual(row["hold_p%d_ns" % percent] / (percent * 10 * NS), 1,
                                   delta=.035)
            self.assertAlmostEqual(row["wait_p%d_ns" % percent] / (percent * 20 * NS), 1,
                                   delta=.035)

    def test_mean_wait_leaves_out_uncontended_acquisitions(self):
        row = self.json_of(lock(0, wait=7), lock(1, wait=100))["locks"][0]
        self.assertAlmostEqual(row["wait_mean_ns"], 100 * NS)

    def test_row_has_contexts_depth_and_modes(self):
        row = self.json_of(lock(depth=2, flags=0x40), lock(depth=3, flags=0x81),
                           lock(depth=1, flags=1), lock(depth=1, flags=4))["locks"][0]
        self.assertEqual((row["dpc"], row["isr"], row["depth"]), (.25, .25, 3))
        self.assertEqual(row["mode"], "ordinary+queued+converted")

    def test_each_caller_of_a_lock_has_a_row(self):
        report = self.json_of(lock(caller=0x1000), lock(caller=0x2000), lock(caller=0x2000),
                              lock(caller=0x2000, address=0x10))
        self.assertEqual({(row["caller"], row["lock"], row["sampled"])
                          for row in report["callers"]},
                         {("0x1000", "0xffff888012345678", 1),
                          ("0x2000", "0xffff888012345678", 2), ("0x2000", "0x10", 1)})
        self.assertEqual(sorted(row["sampled"] for row in report["locks"]), [1, 3])

    def test_pairs_beyond_the_limit_share_a_row(self):
        data = etl.header_buffer(421)
        for i in range(420):
            data += etl.buffer([lock(caller=0x100000 + i * 40 + j) for j in range(40)],
                               sequence=i + 1)
        self.write(data)
        report = json.loads(self.report("--json", "--top", "0").stdout)
        self.assertEqual(len(report["callers"]), 16384 + 1)
        self.assertEqual(sum(row["sampled"] for row in report["callers"]), 16800)
        others = [row for row in report["locks"] if row["lock"] == "(others)"]
        self.assertEqual(others[0]["sampled"], 16800 - 16384)

    def test_a_hot_lock_that_comes_late_is_named(self):
        def buffers():
            yield [etl.spinlock_rundown(1, 1, 1, 0), lock(5, address=0x50, wait=1000)]
            for i in range(410):
                yield [lock(address=0x100000 + 64 * (40 * i + j), hold=50) for j in range(40)]
            for i in range(5):
                yield [lock(5, address=0x40, wait=100)] * 20 + [
                    lock(address=0x900000 + 64 * (20 * i + j), hold=50) for j in range(20)]
        parts = list(buffers())
        self.write(etl.header_buffer(1 + len(parts)) + b"".join(
            etl.buffer(part, sequence=1 + i) for i, part in enumerate(parts)))
        report = json.loads(self.report("--json", "--table", "locks").stdout)
        rows = report["locks"]
        self.assertEqual([row["lock"] for row in rows[:2]], ["0x40", "0x50"])
        self.assertEqual((rows[0]["sampled"], rows[0]["wait_max_ns"]), (100, 100 * NS))
        self.assertEqual(len(rows), 16384 + 1)
        self.assertEqual(sum(row["sampled"] for row in rows), 1 + 16400 + 200)
        self.assertIn("a row lacks at most 0ns of its wait", self.report().stdout)
        self.assertIn("0x40", [each["name"] for each in
                               tool.pictures_of_page(self.report("--html", "-").stdout)["locks"]])

    def test_lock_address_of_a_32_bit_trace_has_8_digits(self):
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(32), bits=32), bits=32))
        row = json.loads(self.report("--json").stdout)["locks"][0]
        self.assertEqual((row["lock"], row["sampled"]), ("0x12345678", 1))


class Resources(Case):
    def test_records_that_begin_before_the_clock_are_damage(self):
        for event in (lock(3, hold=2 ** 62), lock(3, wait=2 ** 32 - 1),
                      etl.perfinfo(0x052B, etl.resource_data(hold=2 ** 63 - 1)),
                      etl.perfinfo(0x052B, etl.resource_data(wait=2 ** 63 - 1))):
            self.write(etl.file(etl.spinlock_rundown(), event, lock(3, wait=20)))
            result = self.report(status=1)
            self.assertIn("its times are impossible", result.stderr)
            self.assertIn("\nDAMAGED: 0 buffers, 1 events, 0 times left out\n", result.stdout)
            self.assertRegex(result.stdout, r"Tasks waited 10.0us for locks .*: 1 wait\.")

    def resource_event(self, **changes):
        return etl.perfinfo(0x052B, etl.resource_data(**changes))

    def test_exclusive_and_shared_are_separate_rows(self):
        report = self.json_of(
            etl.resource_rundown(100, 4), self.resource_event(wait=0, delta=0, hold=50),
            self.resource_event(wait=500, delta=0, hold=0),
            self.resource_event(wait=1, delta=3, hold=70),
            self.resource_event(action=0x10042, wait=0, delta=0, hold=10, depth=3),
            self.resource_event(action=0x10224), *2 * [self.resource_event(action=0x10244)],
            self.resource_event(action=0x10008))
        rows = {row["class"]: row for row in report["resources"]}
        exclusive, shared = rows["exclusive"], rows["shared"]
        self.assertEqual((exclusive["sampled"], shared["sampled"]), (3, 1))
        # A release without a known wait counts for 100, one after a wait for 4. The contention of
        # the third one is 3, which is no multiple of 4, so that its weight is 100, too.
        self.assertEqual((exclusive["releases"], shared["releases"]), (204, 100))
        self.assertAlmostEqual(exclusive["waited"], 4 / 204)
        self.assertEqual((exclusive["contention"], shared["contention"]), (3, 0))
        self.assertEqual((exclusive["excessive"], shared["excessive"]), (1, 2))
        self.assertAlmostEqual(exclusive["wait_max_ns"], 500 * NS)
        self.assertAlmostEqual(exclusive["hold_max_ns"], 70 * NS)
        self.assertEqual((shared["depth"], exclusive["initialized"], shared["initialized"]),
                         (3, 1, 0))


    def test_weights_follow_the_rules_of_the_sampling(self):
        """Records that are always written have the weight 1; two rules write more than one of them
        does.
        """
        for release, contention, changes, weight in (
                (100, 4, {"wait": 0, "delta": 4}, 1), (100, 4, {"wait": 0, "delta": 5}, 100),
                (100, 4, {"wait": 500, "delta": 8}, 1), (100, 4, {"wait": 500, "delta": 9}, 4),
                (100, 4, {"wait": 1, "delta": 0}, 100), (1000, 1, {"wait": 0, "delta": 7}, 1),
                (1000, 1, {"wait": 2, "delta": 0}, 1), (2, 3, {"wait": 500, "delta": 0}, 1.5),
                (4, 6, {"wait": 500, "delta": 0}, 3), (3, 7, {"wait": 9, "delta": 1}, 21 / 9)):
            report = self.json_of(etl.resource_rundown(release, contention),
                                  *[self.resource_event(**changes)] * 6)
            row = report["resources"][0]
            self.assertEqual(row["releases"], 6 * weight, (release, contention, changes))
            if changes["wait"] > 1:
                self.assertAlmostEqual(row["wait_total_ns"], 6 * weight * changes["wait"] * NS)

    def test_estimated_releases_are_the_true_number(self):
        """100000 releases, of which some waited, sampled as NT samples them."""
        seed, events, waited = 1, [], 0
        for number in range(1, 100001):
            seed = seed * 6364136223846793005 + 1442695040888963407 & 2 ** 64 - 1
            wait = 500 if seed >> 33 & 1 else 0
            delta = (seed >> 40) % 11 if seed >> 34 & 1 else 0
            waited += wait > 0
            if wait and number % 7 == 0 or delta and delta % 7 == 0 or number % 50 == 0:
                events.append(self.resource_event(wait=wait, delta=delta))
        data = etl.header_buffer(2 + len(events) // 40)
        for i in range(0, len(events), 40):
            data += etl.buffer([etl.resource_rundown(50, 7)] * (i == 0) + events[i:i + 40],
                               sequence=1 + i // 40)
        (row,) = self.json_of(data=data)["resources"]
        self.assertAlmostEqual(row["releases"] / 100000, 1, delta=.05)
        self.assertAlmostEqual(row["waited"] * row["releases"] / waited, 1, delta=.05)

    def test_rates_of_resources_are_printed_in_words(self):
        self.write(etl.file(etl.resource_rundown(), self.resource_event()))
        self.assertIn("resources: all releases after a wait, and all that others waited for, "
                      "were written; of the others 1 in 1000",
                      join_wrapped_lines(self.report().stdout))
        self.write(etl.file(etl.resource_rundown(2 ** 32 - 1), self.resource_event()))
        self.assertIn("were written; of the others none", join_wrapped_lines(self.report().stdout))
        self.write(etl.file(etl.resource_rundown(1, 4), self.resource_event()))
        self.assertIn("resources: all releases were written",
                      join_wrapped_lines(self.report().stdout))
        self.write(etl.file(etl.resource_rundown(50, 4), self.resource_event()))
        self.assertIn("resources: 1 in 4 releases after a wait, and all that a multiple of 4 "
                      "waited for, were written; of the others 1 in 50",
                      join_wrapped_lines(self.report().stdout))


class LinuxLocks(Case):

    def test_locks_of_different_kinds_at_one_address_are_separate_rows(self):
        kinds = list(etl.LINUX_KINDS)
        report = self.json_of(
            etl.resource_rundown(100, 4), etl.perfinfo(0x052B, etl.resource_data()),
            *(etl.linux_lock_event(kind, wait=0, delta=0, hold=10 * (1 + i))
              for i, kind in enumerate(kinds)),
            etl.linux_lock_event("mutex", wait=500, delta=0, hold=10),
            etl.linux_lock_event("mutex", wait=500, delta=8, hold=10),
            etl.linux_lock_event("rwsem", 0x42, wait=0, delta=3),
            etl.linux_lock_event("rwsem", 0x244), *2 * [etl.linux_lock_event("rwsem", 0x224)])
        rows = {(row["kind"], row["class"]): row for row in report["resources"]}
        self.assertEqual({key: (row["sampled"], row["releases"], row["excessive"], row["depth"])
                          for key, row in rows.items()},
                         {("resource", "exclusive"): (1, 4, 0, 44),
                          ("mutex", "exclusive"): (3, 100 + 4 + 1, 0, 1),
                          ("rwsem", "exclusive"): (1, 100, 2, 1), ("rwsem", "shared"): (1, 100, 1, 1),
                          **{(kind, "exclusive"): (1, 100, 0, 1) for kind in kinds[2:]}})
        self.assertEqual({row["resource"] for row in rows.values()}, {"0xffff888012345678"})
        self.assertAlmostEqual(rows["mutex", "exclusive"]["waited"], 5 / 105)
        self.assertAlmostEqual(rows["mutex", "exclusive"]["wait_total_ns"], 5 * 500 * NS)
        self.assertAlmostEqual(rows["ww_mutex", "exclusive"]["hold_total_ns"], 100 * 60 * NS)
        self.assertEqual(report["unknown"], [])

    def test_resource_of_a_32_bit_trace_is_read(self):
        report = self.json_of(data=etl.file(etl.linux_lock_event("semaphore", bits=32), bits=32))
        self.assertEqual([(row["resource"], row["kind"]) for row in report["resources"]],
                         [("0x12345678", "semaphore")])

    def test_hold_without_a_begin_is_counted_and_marked(self):
        report = self.json_of(etl.resource_rundown(100, 4), *[etl.linux_lock_event(
            "mutex", wait=0, delta=0, hold=hold) for hold in (0, 50, 70)])
        (row,) = report["resources"]
        self.assertEqual((row["releases"], row["hold_unknown"]), (300, 100))
        self.assertAlmostEqual(row["hold_total_ns"], 100 * (50 + 70) * NS)
        text = self.report().stdout
        self.assertIn('">": the hold of 100 releases is not known', text)
        self.assertIn("  >6.00ms", text)
        self.json_of(etl.resource_rundown(100, 4),
                     etl.linux_lock_event("mutex", wait=0, delta=0, hold=50))
        self.assertNotIn(">", self.report().stdout)

    def test_kinds_are_a_column_where_there_are_others_than_nts(self):
        nt = etl.perfinfo(0x052B, etl.resource_data())
        mutex = etl.linux_lock_event("mutex")
        for events, columns, title, words in (
                ((nt,), ["lock", "held", "as"], "Executive resources, by", "resources: the file"),
                ((mutex,), ["lock", "kind", "held", "as"], "Linux' locks that sleep, by",
                 "Linux' locks that sleep: the file"),
                ((nt, mutex), ["lock", "kind", "held", "as"],
                 "Executive resources and Linux' locks that sleep, by",
                 "resources and Linux' locks that sleep: the file")):
            self.write(etl.file(*events))
            text = self.report().stdout
            self.assertIn("\n" + title, text)
            self.assertIn("\n" + words, text)
            heading = self.report("--wide").stdout.split("\n" + title)[1].splitlines()[1].split()
            self.assertEqual(heading[:len(columns)], columns)
        rows = json.loads(self.report("--json").stdout)["resources"]
        self.assertEqual({row["kind"] for row in rows}, {"resource", "mutex"})
        # The column can be selected for any file.
        self.write(etl.file(nt))
        (row,) = json.loads(self.report("--json", "--columns", "kind", "--table", "resources")
                            .stdout)["resources"]
        self.assertEqual(row, {"kind": "resource"})

    def test_unknown_kinds_and_actions_are_counted(self):
        report = self.json_of(etl.linux_lock_event("mutex"),
                              *2 * [etl.perfinfo(0x052B, etl.resource_data(action=0x80990022))],
                              etl.perfinfo(0x052B, etl.resource_data(action=0x00020042)),
                              # Only NT's resources have the action 0x08, initialize.
                              etl.linux_lock_event("rwsem", 0x08))
        self.assertEqual([(row["kind"], row["sampled"]) for row in report["resources"]],
                         [("mutex", 1)])
        self.assertEqual({row["event"]: row["count"] for row in report["unknown"]},
                         {"Resource, class 0x80990000": 2, "Resource, class 0x00020000": 1,
                          "Resource, class 0x80020000": 1})
        self.assertEqual(report["events"], 5)

    def test_locks_beyond_the_limit_share_a_row_for_each_kind(self):
        data = etl.header_buffer(413)
        for i in range(411):
            data += etl.buffer([etl.linux_lock_event("mutex", address=0x100 * (i * 40 + j))
                                for j in range(40)], sequence=i + 1)
        data += etl.buffer([etl.linux_lock_event("rwsem", address=1),
                            etl.perfinfo(0x052B, etl.resource_data(address=2))], sequence=412)
        self.write(data)
        rows = json.loads(self.report("--json").stdout)["resources"]
        self.assertEqual({row["kind"]: row["sampled"] for row in rows
                          if row["resource"] == "(others)"},
                         {"mutex": 411 * 40 - 16384, "rwsem": 1, "resource": 1})

    def test_report_of_a_pipe_equals_that_of_its_file(self):
        data = etl.header_buffer(3) + etl.buffer([etl.resource_rundown(50, 4)]) + \
            etl.buffer([etl.linux_lock_event("rwsem", 0x42), etl.linux_lock_event("mutex"),
                        etl.perfinfo(0x052B, etl.resource_data())], processor=1, sequence=2)
        self.write(data)
        result = subprocess.run([NTKLOG, "report", "--json", "-"], input=data, capture_output=True,
                                check=True)
        self.assertEqual(result.stdout.decode(), self.report("--json").stdout)
        self.assertEqual(len(json.loads(result.stdout)["resources"]), 3)

    def test_filter_by_kind_selects_its_rows(self):
        events = [etl.linux_lock_event(kind) for kind in etl.LINUX_KINDS]
        report = self.json_of(*events, etl.perfinfo(0x052B, etl.resource_data()),
                              options=("--filter", "kind == rt_mutex || kind == resource"))
        self.assertEqual({row["kind"] for row in report["resources"]}, {"rt_mutex", "resource"})

    def test_pictures_name_the_kind(self):
        for events, label in (
                ([etl.linux_lock_event("percpu_rwsem"), etl.perfinfo(0x052B, etl.resource_data())],
                 " percpu_rwsem"),
                ([etl.linux_lock_event("mutex")], " mutex"),
                ([etl.perfinfo(0x052B, etl.resource_data())], "")):
            self.write(etl.file(*events))
            data = tool.pictures_of_page(self.report("--html", "-").stdout)
            name = "0xffff888012345678" + label
            self.assertIn(name, [row["label"] for row in data["timelines"][0]["rows"]])
            section, = [each for each in data["locks"] if each["name"] == name]
            self.assertEqual([times["label"] for times in section["times"]], ["exclusive"])


class Unchanged(Case):

    NAME = "0xffff888012345678"

    def setUp(self):
        super().setUp()
        self.write(etl.file(etl.resource_rundown(50, 4), *(etl.perfinfo(0x052B, event) for event in (
            etl.resource_data(wait=500, delta=1),
            etl.resource_data(address=0x40, action=0x10042, wait=0, delta=0, depth=1),
            etl.resource_data(action=0x10244), etl.resource_data(action=0x10099),
            etl.resource_data(action=0x10008)))))

    def test_text_equals_the_stored_text(self):
        self.assertEqual(self.report().stdout, """\
Tasks waited about 750us for locks in 1.000 s of 2 CPUs: 3 waits.
  100%  unknown: no record says who held the lock
1. 0xffff888012345678: ~750us (100%) in ~3 waits
   Longest 250us from before the start on; waited: task 55 100%
   Held 0%; unknown 100%
Not recorded: why holders were slow (ntklog record -e ...,contextswap --stacks).
"Longest" is of recorded waits. For all: ntklog set resource 50 1 1
More: ntklog report --lock 0xffff888012345678 """ + self.path + """

6 events in 1.000 s of 2 processors, from 2019-04-17 18:40:00 UTC on
resources: 1 in 4 releases after a wait, and all that a multiple of 4 waited
  for, were written; of the others 1 in 50
"~": an estimate of what happened, from these rates; times and shares are scaled
  in the same way
"+-23%": the standard error of an estimate, where it is above 10%; "+-?": no
  record tells how large it is

Executive resources, by wait_total
lock                held as    waited      wait  wait max       hold  hold max
0xffff888012345678  exclusive  100.0%  750us+-?     250us   303us+-?     101us
0xffff888012345678  shared       0.0%    0ns+-?       0ns     0ns+-?       0ns
0x40                shared       0.0%    0ns+-?       0ns  5.05ms+-?     101us
(--wide shows: records, released, waits begun, long waits, wait mean, wait p95,
 hold mean, hold p95, recursion)

Who held the lock: 750us of waiting = 0ns held + 0ns free + 750us unknown, by
  charged_total
lock                waiter   holder     pieces   charged   share  charged max
0xffff888012345678  task 55  (unknown)       3  750us+-?  100.0%        250us
""")

    HEADING = ("table,resource,locks,kind,class,sampled,releases,releases_error,per_second,waited,"
               "contention,excessive,waiting,wait_total_ns,wait_total_error,wait_mean_ns,wait_p50_ns,"
               "wait_p95_ns,wait_p99_ns,wait_max_ns,hold_total_ns,hold_total_error,hold_mean_ns,"
               "hold_p50_ns,hold_p95_ns,hold_p99_ns,hold_max_ns,hold_unknown,depth,initialized")

    def test_csv_equals_the_stored_csv(self):
        self.assertEqual(self.report("--csv").stdout, self.HEADING + """
resources,0xffff888012345678,1,resource,exclusive,1,3,0.816496580927726,3,1,1,0,0.00075,750000,\
,250000,250000,250000,250000,250000,303000,,101000,101000,101000,\
101000,101000,0,44,1
resources,0xffff888012345678,1,resource,shared,0,0,,0,0,0,1,0,0,,0,0,0,0,0,0,,0,0,0,0,0,0,0,0
resources,0x40,1,resource,shared,1,50,0.989949493661167,50,0,0,0,0,0,,0,0,0,0,0,5050000,\
,101000,101000,101000,101000,101000,0,1,0
table,lock,kind,waiter,holder,pieces,charged_total_ns,charged_total_error,charged_share,charged_max_ns
blockers,0xffff888012345678,resource,task 55,(unknown),3,750000,,1,250000
""")

    def test_json_equals_the_stored_json(self):
        report = json.loads(self.report("--json").stdout)
        self.assertEqual(list(report["resources"][0]), self.HEADING.split(",")[1:])
        self.assertEqual(report["unknown"], [])

    def test_dump_equals_the_stored_dump(self):
        lines = run_tool("dump", self.path).stdout.splitlines()[4:]
        self.assertEqual(lines, [
            "   1.000000000 cpu0 Resource AcquireTime=1001 HoldTime=101.000us WaitTime=%s "
            "MaxRecursionDepth=%d ThreadId=55 Resource=%s Action=%s ContentionDelta=%d" % values
            for values in (("250.000us", 44, self.NAME, "release_exclusive", 1),
                           ("0ns", 1, "0x40", "release_shared", 0),
                           ("303", 44, self.NAME, "wait_excessive_for_shared", 66),
                           ("151.500us", 44, self.NAME, "65689", 66),
                           ("151.500us", 44, self.NAME, "initialize", 66))])

    def test_conversion_equals_the_stored_conversion(self):
        trace = run_tool("convert", "--perfetto", "-", self.path, text=False).stdout
        arguments = [made["args"] for made in perfetto_decoder.Trace(trace).slices]
        for expected in ({"class": "exclusive"}, {"class": "exclusive", "contention": 1},
                         {"class": "shared", "contention": 0}):
            self.assertIn(expected, arguments)


if __name__ == "__main__":
    tap.main()
