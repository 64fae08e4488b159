#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names that are in a file of Windows itself: of processes, threads and images."""

import json
import os
import struct
import subprocess

import etl_writer as etl
import perfetto_decoder
import tap
import tool

NTKLOG = tool.NTKLOG
KERNEL = 0xFFFFF80012345000
DRIVER = 0xFFFFF80020000000


class Case(tool.Case):
    def run_tool_on(self, command, data, *options, status=0):
        with open(self.path, "wb") as stream:
            stream.write(data)
        result = subprocess.run([NTKLOG, command, *options, self.path], capture_output=True,
                                text=True, timeout=600)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def convert_to_perfetto(self, data, *options):
        with open(self.path, "wb") as stream:
            stream.write(data)
        return subprocess.run([NTKLOG, "convert", "--perfetto", "-", *options, self.path],
                              capture_output=True, timeout=600, check=True).stdout

    def dump_events(self, *events, bits=64, options=()):
        result = self.run_tool_on("dump", etl.file(*events, bits=bits), "--json", *options)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def last_dumped_event(self, *events, **changes):
        return self.dump_events(*events, **changes)[-1]


def spin_event(bits=64, address=KERNEL + 0x123, caller=DRIVER + 0x10, thread=55, time=2):
    return etl.perfinfo(0x0529, etl.spin_lock(bits, address, caller, thread=thread), bits=bits,
                        time_stamp=etl.START_CLOCK + time * etl.PERF_FREQ)


class Threads(Case):
    def test_processes_and_threads_of_all_versions_are_read(self):
        for bits in 32, 64:
            for version in range(5):
                for type_ in 1, 2, 3, 4:
                    event = self.last_dumped_event(
                        etl.process_event(8, "svchost.exe", version, bits, type_),
                        etl.thread_event(55, 8, version, bits, type_), spin_event(bits), bits=bits)
                    self.assertEqual(event["ThreadName"], "svchost.exe",
                                     (bits, version, type_))

    def test_process_with_any_sid_has_a_name(self):
        for authorities in 0, 1, 15:
            for bits in 32, 64:
                event = self.last_dumped_event(etl.process_event(8, "a.exe", 4, bits,
                                                                 authorities=authorities),
                                               etl.thread_event(55, 8, 3, bits), spin_event(bits),
                                               bits=bits)
                self.assertEqual(event["ThreadName"], "a.exe")

    def test_filter_by_process_selects_its_threads(self):
        events = (etl.process_event(8, "a.exe"), etl.process_event(9, "b.exe"),
                  etl.thread_event(55, 8),
                  etl.thread_event(56, 9), spin_event(), spin_event(thread=56))
        for expression, threads in (("process == a.exe", [55]), ("process == 9", [56]),
                                    ("process != A.exe", [56])):
            result = self.run_tool_on("dump", etl.file(*events), "--json", "--filter",
                                      "Event == SpinLock && " + expression)
            self.assertEqual([json.loads(line)["ThreadId"] for line in result.stdout.splitlines()],
                             threads, expression)

    def test_filter_by_thread_takes_no_name_of_a_process(self):
        events = (etl.process_event(8, "a.exe"), etl.thread_event(55, 8, 4, name="worker"),
                  spin_event())
        for expression, status in (("thread == a.exe/worker", 0), ("process == a.exe", 0),
                                   ("thread == a.exe", 2), ("process == a.exe/worker", 2)):
            result = self.run_tool_on("dump", etl.file(*events), "--filter", expression,
                                      status=status)
            if status:
                self.assertIn("is called \"%s\"" % expression.split()[2], result.stderr)
        # The thread has the id of a process that ended before.
        self.assertNotIn("ThreadName", self.last_dumped_event(*events, spin_event(thread=8, time=3)))

    def test_idle_threads_have_the_name_of_their_process(self):
        """The idle threads and their process have the id 0."""
        events = etl.process_event(0, "Idle"), etl.thread_event(0, 0, 4), spin_event(thread=0)
        self.assertEqual(self.last_dumped_event(*events)["ThreadName"], "Idle")
        self.assertEqual(self.last_dumped_event(*events, options=("--filter", "thread == Idle"))
                         ["ThreadId"], 0)

    def test_process_keeps_its_name_when_a_thread_gets_its_id(self):
        process = (etl.process_event(8, "a.exe", type_=1), etl.thread_event(9, 8, 4, name="w9"),
                   spin_event(thread=9))
        thread = (etl.process_event(20, "b.exe"), etl.thread_event(8, 20, 4, name="worker"),
                  spin_event(thread=8))
        for events in process + thread, thread + process:
            data = etl.file(*events)
            for name, thread_id in ("a.exe", 9), ("b.exe", 8):
                result = self.run_tool_on("dump", data, "--json", "--filter",
                                          "Event == SpinLock && process == " + name)
                self.assertEqual([json.loads(line)["ThreadId"]
                                  for line in result.stdout.splitlines()], [thread_id])
            waiters = {row["waiter"] for row in json.loads(self.run_tool_on(
                "report", data, "--json", "--by", "process").stdout)["blockers"]}
            self.assertEqual({waiter.split(" (")[0] for waiter in waiters}, {"8 a.exe", "20 b.exe"})
        # Without the event of the process, its name is not that of the thread.
        self.assertIn(" 8 (softirq) ", self.run_tool_on("report", etl.file(*thread, *process[1:]),
                                                        "--by", "process").stdout)

    def test_process_with_system_header_has_a_name(self):
        event = self.last_dumped_event(etl.process_event(8, "a.exe", system_header=True),
                                       etl.thread_event(55, 8), spin_event())
        self.assertEqual(event["ThreadName"], "a.exe")

    def test_named_threads_have_process_and_thread_name(self):
        process = etl.process_event(8, "C:\\Windows\\my program.exe")
        for threads in ([etl.thread_event(55, 8, 4, name="worker one")],
                        [etl.thread_event(55, 8),
                         etl.thread_event(55, 8, set_name=True, name="worker one")]):
            event = self.last_dumped_event(process, *threads, spin_event())
            self.assertEqual(event["ThreadName"], "my_program.exe/worker one")
        for bits in 32, 64:
            event = self.last_dumped_event(etl.thread_event(55, 8, 4, bits,
                                                            name="w\u00e4rme\u20ac"),
                                           spin_event(bits),
                                           bits=bits)
            self.assertEqual(event["ThreadName"], "w\u00e4rme\u20ac")

    def test_last_thread_or_process_of_an_id_counts(self):
        event = self.last_dumped_event(etl.process_event(8, "a.exe"), etl.process_event(9, "b.exe"),
                                       etl.thread_event(55, 8),
                                       etl.thread_event(55, 9), spin_event())
        self.assertEqual(event["ThreadName"], "b.exe")
        event = self.last_dumped_event(etl.process_event(8, "a.exe"), etl.process_event(8, "b.exe"),
                                       etl.thread_event(55, 8),
                                       spin_event())
        self.assertEqual(event["ThreadName"], "b.exe")

    def test_rundown_behind_the_events_names_them(self):
        events = self.dump_events(spin_event(time=1), etl.process_event(8, "a.exe", type_=4),
                                  etl.thread_event(55, 8, type_=4))
        self.assertIn("a.exe", [event.get("ThreadName") for event in events])

    def test_pipe_is_not_read_for_names(self):
        data = etl.file(etl.process_event(8, "a.exe"), etl.thread_event(55, 8), spin_event())
        result = subprocess.run([NTKLOG, "dump", "--json", "-"], input=data, capture_output=True,
                                timeout=600)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        events = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(events[-1]["ThreadId"], 55)
        self.assertNotIn("ThreadName", events[-1])

    def test_a_file_of_names_has_precedence(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("thread 55 mine\nfffff80012345100 T KeFunction\n")
        event = self.last_dumped_event(etl.process_event(8, "a.exe"), etl.thread_event(55, 8),
                                       etl.image_event(KERNEL, 0x1000, "\\ntoskrnl.exe"),
                                       spin_event(caller=KERNEL + 0x50))
        self.assertEqual(event["ThreadName"], "mine")
        self.assertEqual(event["SpinLockAddressSymbol"], "KeFunction+0x23")
        self.assertEqual(event["CallerAddressSymbol"], "ntoskrnl.exe+0x50")

    def test_headers_have_names_of_threads(self):
        header = struct.pack("<HBBHHIIqQ", 0x50, 0x13, 0xC0, 0, 0, 55, 8,
                             etl.START_CLOCK + etl.PERF_FREQ, 0).ljust(0x50, b"\0")
        data = etl.file(etl.process_event(8, "a b.exe"), etl.thread_event(55, 8, 4, name="w"),
                        header)
        self.assertEqual(json.loads(self.run_tool_on("dump", data,
                                                     "--json").stdout.splitlines()[-1])
                         ["ThreadName"], "a_b.exe/w")
        self.assertIn(" ThreadId=55 ThreadName=a_b.exe/w", self.run_tool_on("dump", data).stdout)
        self.assertIn(",55,a_b.exe/w,", self.run_tool_on("dump", data, "--csv").stdout)

    def test_damaged_rundown_events_name_nothing(self):
        """The tool must not read beyond the end of the event."""
        process = etl.process_event(8, "a.exe", 2)
        for size in range(0x10, len(process)):
            cut = bytearray(process[:size])
            struct.pack_into("<H", cut, 4, size)
            self.run_tool_on("dump", etl.file(bytes(cut), etl.thread_event(55, 8), spin_event()))
        wrong = bytearray(process)
        wrong[0x10 + 24 + 16 + 1] = 0xFF
        event = self.last_dumped_event(bytes(wrong), etl.thread_event(55, 8), spin_event())
        self.assertNotIn("ThreadName", event)
        event = self.last_dumped_event(etl.process_event(8, "\x1b[31m\x9b.exe"),
                                       etl.thread_event(55, 8),
                                       spin_event())
        self.assertEqual(event["ThreadName"], "?[31m?.exe")

    def test_long_names_are_cut_between_characters(self):
        def switch_event(time_stamp, old, new):
            return etl.perfinfo(0x0524, etl.context_swap_data(new=new, old=old), 4,
                                time_stamp=etl.START_CLOCK + time_stamp)
        threads = range(55, 58)
        data = etl.file(*(etl.thread_event(55 + i, 8, 4, name=i * "a" + 80 * "\u20ac")
                          for i in range(3)),
                        *(etl.perfinfo(0x052B, etl.resource_data(thread=thread))
                          for thread in threads),
                        *(switch_event(10 * thread, thread, thread + 1)
                          for thread in range(54, 58)))
        names = self.path + "2.names"
        with open(names, "w", encoding="utf-8") as stream:
            stream.writelines("thread %d %s\n" % (55 + i, i * "a" + 100 * "\u20ac") for i in range(3))
        for options in (), ("--names", names):
            # run_tool_on() decodes the output as UTF-8, which would fail at a part of a character.
            self.run_tool_on("report", data, *options)
            self.run_tool_on("report", data, "--html", "-", *options)
            made = perfetto_decoder.Trace(self.convert_to_perfetto(data, *options))
            tracks = [name for name, group in made.tracks.values()
                      if group == "resources and sleeping locks, by task"]
            self.assertEqual(tracks, [i * "a" + (200 - i) // 3 * "\u20ac" + (200 - i) % 3 * "?" +
                                      " %d" % (55 + i) for i in range(3)])

    def test_a_name_is_on_one_line(self):
        """A name in a file cannot make a line, a row or a column of its own."""
        data = etl.file(etl.process_event(8, "a\n\tb.exe"),
                        etl.thread_event(55, 8, 4, name="\n9 cpu0 \tX"),
                        etl.image_event(KERNEL, 0x1000, "\\nt\n\tos.exe"), spin_event())
        lines = {}
        for command in ("dump",), ("dump", "--csv"), ("report",), ("report", "--csv"):
            result = self.run_tool_on(*command[:1], data, *command[1:])
            lines[command] = result.stdout.splitlines()
            self.assertNotIn("\t", result.stdout)
        self.assertEqual(len(lines["dump",]), 7)
        self.assertEqual(len(lines["dump", "--csv"]), 8)
        self.assertIn("ThreadName=a??b.exe/?9_cpu0_?X", lines["dump",][-1])
        self.assertIn("nt??os.exe+0x123", "".join(lines["report", "--csv"]))
        data = data.replace("Logger".encode("utf-16-le"), "Log\n\tr".encode("utf-16-le"))
        self.assertIn("Log??r", self.run_tool_on("info", data).stdout)

    def test_surrogates_are_decoded_in_pairs(self):
        """Surrogates alone, in the wrong order or at the end are not characters."""
        first, last = "\U00010000", "\U0010FFFF"
        for units, name in (
                ("a\U0001F512b".encode("utf-16-le"), "a\U0001F512b"),
                ((first + last).encode("utf-16-le"), first + last),
                (b"\x3D\xD8", "?"), (b"\x12\xDD", "?"), (b"\x12\xDD\x3D\xD8", "??"),
                (b"\x3D\xD8\x3D\xD8\x12\xDD", "?\U0001F512"), (b"\x3D\xD8A\0", "?A")):
            named = etl.perfinfo(0x0548, struct.pack("<II", 8, 55) + units + b"\0\0")
            cut = etl.perfinfo(0x0548, struct.pack("<II", 8, 55) + units)
            for event in named, cut:
                self.assertEqual(self.last_dumped_event(event, spin_event())["ThreadName"], name,
                                 units)
        # A name is cut before the first character that does not fit as a whole.
        for length in range(240, 260):
            name = self.last_dumped_event(etl.thread_event(55, 8,
                                                           name="x" * length + "\U0001F512" * 9,
                                                           set_name=True),
                                          spin_event())["ThreadName"]
            self.assertRegex(name, "^x+\U0001F512*$")
        data = etl.file(spin_event()).replace("Logger".encode("utf-16-le"),
                                              "Lo\U0001F512er".encode("utf-16-le"))
        self.assertIn("Lo\U0001F512er", self.run_tool_on("info", data).stdout)


class Images(Case):
    def test_images_of_all_versions_give_symbols(self):
        for bits, kernel, driver in ((64, KERNEL, DRIVER), (32, 0x82000000, 0xF0000000)):
            for version in range(4):
                for hook_id in (0x1402, 0x1403, 0x1404, 0x140A):
                    event = self.last_dumped_event(
                        etl.image_event(driver, 0x8000, "\\??\\C:\\Windows\\my driver.sys", version,
                                        bits, hook_id),
                        etl.image_event(kernel, 0x800000, "\\SystemRoot\\system32\\ntoskrnl.exe",
                                        version, bits, hook_id),
                        spin_event(bits, kernel + 0x123, driver), bits=bits)
                    self.assertEqual(event["SpinLockAddressSymbol"], "ntoskrnl.exe+0x123")
                    self.assertEqual(event["CallerAddressSymbol"], "my_driver.sys")

    def test_address_beyond_an_image_has_no_symbol(self):
        image = etl.image_event(KERNEL, 0x1000, "ntoskrnl.exe")
        self.assertEqual(self.last_dumped_event(image, spin_event(address=KERNEL +
                                                                  0xFFF))["SpinLockAddressSymbol"],
                         "ntoskrnl.exe+0xfff")
        for address in KERNEL + 0x1000, KERNEL - 1:
            self.assertNotIn("SpinLockAddressSymbol",
                             self.last_dumped_event(image, spin_event(address=address)))

    def test_an_image_is_larger_than_symbols_reach(self):
        event = self.last_dumped_event(etl.image_event(KERNEL, 0x4000000, "ntoskrnl.exe"),
                                       spin_event(address=KERNEL + 0x3000000))
        self.assertEqual(event["SpinLockAddressSymbol"], "ntoskrnl.exe+0x3000000")

    def test_programs_are_at_one_address_in_many_processes(self):
        event = self.last_dumped_event(etl.image_event(0x7FF600000000, 0x1000, "a.exe"),
                                       spin_event(address=0x7FF600000010))
        self.assertNotIn("SpinLockAddressSymbol", event)

    def test_name_of_the_loaded_image_precedes_that_of_the_linked(self):
        loaded = etl.image_event(KERNEL, 0x1000, "\\ntoskrnl.exe")
        linked = etl.image_id_event(KERNEL, 0x1000, "ntkrnlmp.exe")
        for events in (loaded, linked), (linked, loaded):
            self.assertEqual(self.last_dumped_event(*events, spin_event())["SpinLockAddressSymbol"],
                             "ntoskrnl.exe+0x123")
        for bits, base in (64, KERNEL), (32, 0x82000000):
            event = self.last_dumped_event(etl.image_id_event(base, 0x1000, "ntkrnlmp.exe", bits),
                                           spin_event(bits, base + 0x123), bits=bits)
            self.assertEqual(event["SpinLockAddressSymbol"], "ntkrnlmp.exe+0x123")

    def test_last_image_at_an_address_counts(self):
        event = self.last_dumped_event(etl.image_event(KERNEL, 0x1000, "a.sys"),
                                       etl.image_event(KERNEL, 0x800, "b.sys"),
                                       spin_event())
        self.assertEqual(event["SpinLockAddressSymbol"], "b.sys+0x123")

    def test_image_of_impossible_size_has_no_symbols(self):
        for size in 0, 1 << 40:
            self.assertNotIn("SpinLockAddressSymbol",
                             self.last_dumped_event(etl.image_event(KERNEL, size, "a.sys"),
                                                    spin_event()))


class Uses(Case):
    FILE = etl.file(etl.process_event(8, "system.exe"), etl.thread_event(11, 8),
                    etl.thread_event(55, 8),
                    etl.image_event(KERNEL, 0x1000, "\\ntoskrnl.exe"),
                    etl.image_event(DRIVER, 0x1000, "\\a.sys"), spin_event(),
                    etl.perfinfo(0x0524, etl.context_swap_data(), 4),
                    etl.perfinfo(0x052B, etl.resource_data(address=KERNEL + 0x20)))

    def test_report_uses_names(self):
        report = json.loads(self.run_tool_on("report", self.FILE, "--json").stdout)
        self.assertEqual(report["locks"][0]["lock"], "ntoskrnl.exe+0x123")
        self.assertEqual(report["callers"][0]["caller"], "a.sys+0x10")
        self.assertIn("system.exe", [row["name"] for row in report["threads"]])

    def test_conversion_uses_names(self):
        trace = self.convert_to_perfetto(self.FILE)
        self.assertIn(b"ntoskrnl.exe+0x123", trace)
        self.assertIn(b"system.exe", trace)

    def test_filters_use_names(self):
        for expression in ("lock == ntoskrnl.exe", "lock == ntoskrnl.exe+0x123",
                           "caller == a.sys", "lock ~ ntos", "thread == system.exe"):
            result = self.run_tool_on("dump", self.FILE, "--filter", expression)
            self.assertIn("SpinLock", result.stdout, expression)
        result = self.run_tool_on("dump", self.FILE, "--filter", "lock == b.sys", status=2)
        self.assertIn('no symbol is called "b.sys"', result.stderr)

    def test_stream_with_names_is_read_to_its_end(self):
        at = self.FILE.index(struct.pack("<HH", 0x44, 0x0005)) + 0x1C
        for flags, named in ((7, True), (1, True), (0x10, False), (0, False)):
            data = self.FILE[:at] + struct.pack("<I", flags) + self.FILE[at + 4:]
            for command in (("dump", "-"), ("report", "-"),
                            ("convert", "--perfetto", "-", "-")):
                result = subprocess.run([NTKLOG, *command], input=data, capture_output=True,
                                        timeout=600)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(b"ntoskrnl.exe+0x123" in result.stdout, named, (flags, command))

    def test_file_whose_groups_exclude_names_is_not_searched_for_them(self):
        """Only spin locks were recorded: the tool does not read the file once more for names."""
        data = bytearray(self.FILE)
        at = data.index(struct.pack("<HH", 0x44, 0x0005))
        struct.pack_into("<II", data, at + 0x1C, 0, 0x00010000)
        self.assertNotIn("ntoskrnl", self.run_tool_on("dump", bytes(data)).stdout)
        struct.pack_into("<II", data, at + 0x1C, 4, 0x00010000)
        self.assertIn("ntoskrnl", self.run_tool_on("dump", bytes(data)).stdout)


if __name__ == "__main__":
    tap.main()
