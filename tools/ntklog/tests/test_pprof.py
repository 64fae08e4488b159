#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog convert --pprof: the profiles as pprof's decoder sees them."""

import os
import struct
import subprocess

import etl_writer as etl
import pprof_decoder
import tap
from convert_case import Case, NTKLOG, run_command


class Pprof(Case):

    TIME = etl.START_CLOCK + etl.PERF_FREQ
    NAMES = """ffffffff81000000 T outer
ffffffff81001000 T inner
ffffffff81002000 T other
thread 55 worker
lock ffff888012345678 queue.lock
"""
    OUTER, INNER, OTHER = (0xFFFFFFFF81000010 + 0x1000 * i for i in range(3))

    def convert_to_profile(self, *events, names=NAMES):
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write(names)
        self.convert("--pprof", etl.file(*events))
        with open(self.out, "rb") as stream:
            return pprof_decoder.Profile(stream.read())

    def spin_event(self, time, acquire, release, wait=0, thread=55, **changes):
        return etl.perfinfo(0x0529, etl.spin_lock(
            acquire=acquire, release=release, wait=wait, spins=1 if wait else 0, thread=thread,
            **changes), time_stamp=self.TIME + time)

    @staticmethod
    def ns_of(cycles):
        return round(cycles * 1e9 / etl.PERF_FREQ)

    def test_samples_have_the_sums_of_a_stack_a_class_and_a_task(self):
        chain = [self.INNER, self.OUTER]
        profile = self.convert_to_profile(
            etl.spinlock_rundown(acquire=1), etl.stacks_rundown(2),
            self.spin_event(0, 1000, 1100, wait=10), etl.stack_event(self.TIME, chain),
            self.spin_event(500, 1400, 1500, wait=30), etl.stack_event(self.TIME + 500, chain),
            self.spin_event(900, 1800, 1900, thread=56),
            etl.stack_event(self.TIME + 900, [self.OTHER]))
        self.assertEqual(profile.types, [
            ("contentions", "count"), ("delay", "nanoseconds"), ("acquisitions", "count"),
            ("hold", "nanoseconds"), ("charged", "nanoseconds")])
        self.assertEqual(profile.default, "delay")
        self.assertEqual(profile.comments, [])
        both, other = profile.samples
        self.assertEqual(both[0], ["inner", "outer"])
        self.assertEqual(both[1], {"contentions": 2, "delay": self.ns_of(40), "acquisitions": 2,
                                   "hold": self.ns_of(200), "charged": 0})
        self.assertEqual(both[2], {"class": "queue.lock", "task": "worker", "tid": 55})
        self.assertEqual(other[0], ["other"])
        self.assertEqual(other[2], {"class": "queue.lock", "tid": 56})
        self.assertIn(self.INNER, profile.addresses.values())

    def test_samples_have_the_process_of_the_task(self):
        names = self.NAMES.replace("worker", "worker\t50") + \
            "thread 50 server\t50\nthread 56 helper\t51\n"
        profile = self.convert_to_profile(etl.spinlock_rundown(acquire=1),
                                          self.spin_event(0, 1000, 1100),
                                          self.spin_event(500, 1400, 1500, thread=56),
                                          self.spin_event(900, 1800, 1900, thread=57), names=names)
        labels = [{key: sample[2][key] for key in ("tid", "process", "pid") if key in sample[2]}
                  for sample in profile.samples]
        self.assertEqual(labels, [{"tid": 55, "process": "server", "pid": 50},
                                  {"tid": 56, "pid": 51}, {"tid": 57}])

    def test_locks_of_two_classes_have_two_samples(self):
        profile = self.convert_to_profile(
            etl.spinlock_rundown(acquire=1), self.spin_event(0, 1000, 1100),
            self.spin_event(500, 1400, 1500, address=0xFFFF888012345700),
            names=self.NAMES + "lock ffff888012345700 list.lock\n")
        self.assertEqual(sorted(labels["class"] for _, _, labels in profile.samples),
                         ["list.lock", "queue.lock"])

    def test_samples_without_a_stack_have_the_caller(self):
        profile = self.convert_to_profile(self.spin_event(0, 1000, 1100, caller=self.INNER),
                                          self.spin_event(500, 1400, 1500, caller=0))
        self.assertEqual([sample[0] for sample in profile.samples], [["inner"], ["(no stack)"]])

    def test_locks_that_sleep_have_their_caller_in_holds_waits_and_charges(self):
        """The task 55 holds the mutex while the task 56 waits for it, 600 cycles."""
        lock, at = 0xFFFF888012345678, self.TIME
        profile = self.convert_to_profile(*(event for release, thread, wait, place in (
            (1000, 55, 0, self.INNER), (1200, 56, 600, self.OTHER)) for event in (
                etl.caller_event(lock, place, time_stamp=at + release),
                etl.linux_lock_event("mutex", 0x22, address=lock, acquire=at + release - 200,
                                     hold=200, wait=wait, thread=thread, time_stamp=at + release))))
        samples = {sample[2]["tid"]: sample for sample in profile.samples}
        self.assertEqual(len(profile.samples), 2)
        self.assertEqual([samples[tid][0] for tid in (55, 56)], [["inner"], ["other"]])
        self.assertGreater(samples[55][1]["charged"], 0)
        self.assertEqual(samples[56][1]["delay"], self.ns_of(600))

    def test_sampled_recordings_have_estimates_and_say_so(self):
        profile = self.convert_to_profile(etl.spinlock_rundown(acquire=1000),
                                          self.spin_event(0, 1000, 1100, caller=self.INNER))
        self.assertEqual(profile.samples[0][1]["acquisitions"], 1000)
        self.assertEqual(profile.comments, ["values are estimates of a sampled recording"])

    def test_samples_of_mode_waits_have_no_acquisitions(self):
        ((_, values, _),) = self.convert_to_profile(
            etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(2),
            self.spin_event(0, 1000, 1000, wait=10, rule=2)).samples
        self.assertEqual((values["contentions"], values["acquisitions"], values["hold"]), (1, 0, 0))

    def test_time_is_that_of_the_origin_or_none(self):
        epoch = 116444736000000000
        for start, options, time in (
                (epoch + 10 ** 7, (), 10 ** 9), (epoch + 10 ** 7, ("--from", "0.5"), 1500000000),
                (0, (), 0), (epoch - 1, (), 0), (2 ** 62, (), 0), (2 ** 64 - 1, (), 0)):
            data = bytearray(etl.file(self.spin_event(0, 1000, 1100)))
            struct.pack_into("<Q", data, 0x48 + 0x20 + 0x108, start)
            self.convert("--pprof", bytes(data), 0, *options)
            with open(self.out, "rb") as stream:
                self.assertEqual(pprof_decoder.Profile(stream.read()).time, time)

    def test_waits_are_charged_to_the_holder(self):
        """The task 55 holds the lock while the task 56 waits for it, 600 cycles."""
        at = etl.START_CLOCK + etl.PERF_FREQ
        profile = self.convert_to_profile(
            etl.spinlock_rundown(acquire=1),
            self.spin_event(1000, at, at + 1000, caller=self.INNER),
            self.spin_event(1200, at + 1000, at + 1200, wait=600, thread=56, caller=self.OTHER))
        charged = {sample[0][0]: sample[1]["charged"] for sample in profile.samples}
        waited = {sample[0][0]: sample[1]["delay"] for sample in profile.samples}
        self.assertEqual(waited, {"inner": 0, "other": self.ns_of(600)})
        self.assertEqual(charged["other"], 0)
        self.assertEqual(charged["inner"], round(600 * 1e9 / etl.PERF_FREQ))

    def test_filter_leaves_samples_out(self):
        with open(self.path, "wb") as stream:
            stream.write(etl.file(self.spin_event(0, 1000, 1100),
                                  self.spin_event(9, 1200, 1300, thread=56)))
        result = run_command(NTKLOG, "convert", "--pprof", self.out, "--filter", "ThreadId == 56",
                             self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.out, "rb") as stream:
            (sample,) = pprof_decoder.Profile(stream.read()).samples
        self.assertEqual(sample[2]["tid"], 56)

    def test_standard_output_has_the_same_bytes_as_a_file(self):
        self.convert("--pprof", etl.file(self.spin_event(0, 1000, 1100)))
        result = subprocess.run([NTKLOG, "convert", "--pprof", "-", self.path],
                                capture_output=True, check=True)
        with open(self.out, "rb") as stream:
            self.assertEqual(stream.read(), result.stdout)

    def test_a_full_device_and_a_missing_directory_are_errors(self):
        data = etl.file(self.spin_event(0, 1000, 1100))
        for self.out, reason in (("/dev/full", "cannot write: No space left on device"),
                                 (os.path.join(self.out, "absent", "file"),
                                  "No such file or directory")):
            self.assertIn("%s: %s\n" % (self.out, reason), self.convert("--pprof", data, 1).stderr)


if __name__ == "__main__":
    tap.main()
