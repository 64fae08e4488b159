#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog dump of what Windows writes: other sessions, headers and events, which are not known."""

import csv
import io
import json
import struct
import unittest
import uuid

import etl_writer as etl
import tap
from tool import dump, fields_of_line, run_tool_on


class Windows(unittest.TestCase):

    def test_compressed_file_is_refused_with_its_algorithm(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x04000001)
        for state, name in ((3, " (Xpress)"), (4, " (Xpress Huffman)"), (2, " (LZNT1)"), (1, ""),
                            (0xFFFFFFFF, "")):
            struct.pack_into("<I", data, 0x2C, state)
            result, _ = dump(bytes(data))
            self.assertEqual(result.returncode, 1)
            self.assertIn("the buffers are compressed%s: record without" % name, result.stderr)
        # The first buffer is not compressed, so that info can print it.
        result = run_tool_on("info", bytes(data), "--json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("compressed", result.stderr)
        info = json.loads(result.stdout)
        self.assertEqual((info["Header"]["LogFileMode"], info["Header"]["LoggerName"],
                          info["Events"]), ("0x04000001 sequential compressed", "Logger", {}))

    def test_compressed_buffer_is_refused(self):
        data = etl.header_buffer(2) + etl.buffer([], flags=0x60)
        result, lines = dump(data)
        self.assertEqual((result.returncode, len(lines)), (1, 3))
        self.assertIn("offset 0x1000: the buffers are compressed", result.stderr)

    def test_circular_files_have_fewer_buffers_than_were_written(self):
        data = bytearray(etl.header_buffer(700) + etl.buffer([etl.perfinfo(0x1234, b"")]))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 2)
        result, lines = dump(bytes(data))
        self.assertEqual((result.returncode, len(lines)), (0, 4))

    def test_circular_files_are_in_the_order_of_sequence_numbers(self):
        def event(time):
            return etl.perfinfo(0x1234, b"", time_stamp=etl.START_CLOCK + time)
        data = bytearray(etl.header_buffer(9) + etl.buffer([event(30)], sequence=7) +
                         etl.buffer([event(40)], sequence=8) +
                         etl.buffer([event(10)], sequence=5) +
                         etl.buffer([event(20)], sequence=6))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 2)
        _, lines = dump(bytes(data), "--cycles")
        self.assertEqual([int(fields_of_line(line)["TimeStamp"]) - etl.START_CLOCK
                          for line in lines[3:]], [10, 20, 30, 40])

    def test_preallocated_file_ends_at_its_last_written_buffer(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")) + bytes(5 * etl.SIZE))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x21)
        result, lines = dump(bytes(data))
        self.assertEqual((result.returncode, len(lines)), (0, 4))

    def test_processor_of_one_byte_is_read(self):
        """The flag of a 16-bit index is not set."""
        data = etl.header_buffer(2) + \
            etl.buffer([etl.perfinfo(0x1234, b"")], processor=0x0803, flags=0)
        _, lines = dump(data)
        self.assertEqual(lines[3][1], "cpu3")

    def test_system_time_is_a_clock_of_100_ns(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x110, 2)
        _, lines = dump(bytes(data))
        self.assertEqual(lines[3][0], "0.200000000")

    def test_buffers_of_types_without_events_are_skipped(self):
        data = etl.header_buffer(3) + etl.buffer([b"\0" * 64], kind=2) + \
            etl.buffer([etl.perfinfo(0x1234, b"")], sequence=2)
        result, lines = dump(data)
        self.assertEqual((result.returncode, len(lines)), (0, 4))

    def test_all_kinds_of_headers_are_skipped(self):
        kinds = {1: 0x20, 2: 0x20, 3: 0x18, 4: 0x18, 0x0A: 0x30, 0x0B: 0x38, 0x0C: 0x30,
                 0x0D: 8, 0x0E: 0x30, 0x10: 0x10, 0x11: 0x10, 0x12: 0x50,
                 0x13: 0x50, 0x14: 0x30, 0x15: 0x38}
        for kind, size in kinds.items():
            at = 4 if kind in (1, 2, 3, 4, 0x10, 0x11) else 0
            event = bytearray(size + 24)
            event[2:4] = bytes((kind, 0xC0))
            struct.pack_into("<H", event, at, len(event))
            with self.subTest(kind=kind):
                result, lines = dump(etl.file(bytes(event),
                                              etl.perfinfo(0x0529, etl.spin_lock())))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(len(lines), 5)
                self.assertEqual(lines[4][2], "SpinLock")


    def test_wpp_message_has_the_time_of_the_event_before(self):
        """A WPP message has no time: it gets that of the event before it, or of the start."""
        spin = etl.perfinfo(0x0529, etl.spin_lock())
        data = etl.header_buffer(3) + etl.buffer([spin, etl.wpp_event(7, data=bytes(5)), spin]) + \
            etl.buffer([etl.wpp_event(9)], processor=1, sequence=2)
        result, lines = dump(data)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([(line[0], line[2]) for line in lines[3:]],
                         [("0.000000000", "WppMessage"), ("1.000000000", "SpinLock"),
                          ("1.000000000", "WppMessage"), ("1.000000000", "SpinLock")])
        self.assertEqual(fields_of_line(lines[5]), {"HeaderType": "0x0f", "Size": "13", "Id": "7"})

    def test_header_type_of_wpp_messages_is_damage(self):
        result, _ = dump(etl.file(struct.pack("<HBBI", 0x10, 0x0F, 0x90, 0).ljust(0x10)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("marker 0x900f0010", result.stderr)


class Unknown(unittest.TestCase):
    def test_unknown_event_has_hook_id_and_size(self):
        result, lines = dump(etl.file(etl.perfinfo(0x1234, bytes(13), version=7),
                                      etl.perfinfo(0x0529, etl.spin_lock())))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(lines[3][2:], ["Event", "HookId=0x1234 Version=7 Size=29"])
        self.assertEqual(lines[4][2], "SpinLock")

    PROCESS = "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"
    OTHER = "12345678-9abc-def0-1234-56789abcdef0"

    def file_of_foreign_events(self):
        classic = struct.pack("<HBBBBHIIq16sQ", 0x30 + 5, 0x14, 0xC0, 3, 4, 2, 77, 88,
                              etl.START_CLOCK + 10, uuid.UUID(self.PROCESS).bytes_le, 0) + b"hello"
        manifest = struct.pack("<HBBHHIIq16sHBBBBHQQ16s", 0x50 + 2, 0x13, 0xC0, 0, 0, 78, 89,
                               etl.START_CLOCK + 20, uuid.UUID(self.OTHER).bytes_le, 301, 6, 1,
                               5, 9, 0, 0, 0, b"") + b"\xab\xcd"
        message = etl.wpp_event(7, 3, bytes(4) + uuid.UUID(self.OTHER).bytes_le)
        return etl.file(classic, manifest, message, etl.perfinfo(0x0501, b"\1\2", version=3))

    def test_times_are_rounded_as_printf_does(self):
        """With a clock of 2 GHz each second time is just at the half of the last decimal."""
        def event_at(ticks):
            return etl.perfinfo(0x1234, b"", time_stamp=etl.START_CLOCK + ticks)
        ticks = [1, 2, 3, 235, 237, 999_999_999, 1_999_999_999, 2_000_000_001, 123_456_789_017]
        _, lines = dump(etl.header_buffer(2, perf_freq=2_000_000_000, end_time=0) +
                        etl.buffer([event_at(t) for t in ticks], time_stamp=1 << 40))
        self.assertEqual([line[0] for line in lines[3:]], ["%.9f" % (t / 2e9) for t in ticks])

    def test_fields_of_event_headers_are_printed(self):
        _, lines = dump(self.file_of_foreign_events())
        self.assertEqual([line[2:] for line in lines[3:]], [
            ["Event", "HeaderType=0x14 Size=53 Provider=Process Version=2 Opcode=3 Level=4 "
             "ProcessId=88 ThreadId=77"],
            ["Event", "HeaderType=0x13 Size=82 Provider=%s Id=301 Version=6 Opcode=9 Level=5 "
             "ProcessId=89 ThreadId=78" % self.OTHER],
            ["WppMessage", "HeaderType=0x0f Size=28 Provider=%s Id=7" % self.OTHER],
            ["ThreadStart", "HookId=0x0501 Version=3 Size=18"]])
        classic, manifest, message, _ = [json.loads(line) for line in run_tool_on(
            "dump", self.file_of_foreign_events(), "--json").stdout.splitlines()[3:]]
        self.assertEqual((classic["Provider"], classic["ProviderGuid"], classic["ThreadId"]),
                         ("Process", self.PROCESS, 77))
        self.assertEqual((manifest["Provider"], manifest["Id"], manifest["Opcode"],
                          manifest["Level"], manifest["ProcessId"]), (self.OTHER, 301, 9, 5, 89))
        self.assertEqual((message["Provider"], message["Id"]), (self.OTHER, 7))
        rows = list(csv.DictReader(io.StringIO(run_tool_on("dump", self.file_of_foreign_events(),
                                                           "--csv").stdout)))
        self.assertEqual([(row["Event"], row["Size"], row["HeaderType"], row["Provider"],
                           row["Id"], row["Opcode"], row["ProcessId"], row["ThreadId"])
                          for row in rows[3:6]],
                         [("Event", "53", "0x14", "Process", "", "3", "88", "77"),
                          ("Event", "82", "0x13", self.OTHER, "301", "9", "89", "78"),
                          ("WppMessage", "28", "0xf", self.OTHER, "7", "", "", "")])

    def test_fields_of_event_headers_can_be_filtered(self):
        for expression, count in (("Provider == Process", 1), ("Provider == " + self.OTHER, 2),
                                  ("ProviderGuid == " + self.PROCESS, 1), ("Id == 301", 1),
                                  ("Provider != Process", 2), ("Opcode == 9", 1),
                                  ("Level <= 4", 1), ("Version == 6", 1),
                                  ("ProcessId == 89", 1), ("ThreadId == 77", 1),
                                  ("thread == 78", 1), ("Event == WppMessage", 1)):
            result, lines = dump(self.file_of_foreign_events(), "--filter", expression)
            self.assertEqual((result.returncode, len(lines)), (0, count), expression)

    def test_unknown_events_are_counted_by_their_headers(self):
        events = json.loads(run_tool_on("info", self.file_of_foreign_events(),
                                        "--json").stdout)["Events"]
        self.assertEqual(events, {"Process Opcode 3": 1, self.OTHER + " Id 301": 1,
                                  "WppMessage": 1, "ThreadStart": 1})
        self.assertRegex(run_tool_on("info", self.file_of_foreign_events()).stdout,
                         r"\n  Process Opcode 3 +1\n")
        # Each event has another provider, and there are more than info counts separately.
        event = bytearray(0x50)
        struct.pack_into("<HBB", event, 0, 0x50, 0x13, 0xC0)
        struct.pack_into("<q", event, 0x10, etl.START_CLOCK + 10)
        parts = []
        for i in range(5000):
            struct.pack_into("<I", event, 0x18, i)
            parts.append(bytes(event))
        data = etl.header_buffer(126) + b"".join(
            etl.buffer(parts[i:i + 40], sequence=1 + i // 40) for i in range(0, 5000, 40))
        events = json.loads(run_tool_on("info", data, "--json").stdout)["Events"]
        self.assertEqual((len(events), events["HeaderType 0x13"]), (4097, 904))

    def test_hex_option_prints_the_data(self):
        _, lines = dump(self.file_of_foreign_events(), "--hex", "--filter",
                        "Id == 301 || Opcode == 3")
        self.assertEqual([fields_of_line(line)["Hex"] for line in lines], ["68656c6c6f", "abcd"])
        shown = json.loads(run_tool_on("dump", self.file_of_foreign_events(), "--hex", "--json",
                                       "--filter",
                                       "Id == 301").stdout)
        self.assertEqual(shown["Hex"], "abcd")
        rows = list(csv.DictReader(io.StringIO(run_tool_on("dump", self.file_of_foreign_events(),
                                                           "--csv",
                                                           "--hex").stdout)))
        self.assertEqual([row["Hex"] for row in rows[3:5]], ["68656c6c6f", "abcd"])
        _, lines = dump(etl.file(etl.perfinfo(0x0529, etl.spin_lock())), "--hex")
        self.assertEqual(fields_of_line(lines[3])["Hex"], etl.spin_lock().hex())

    def test_lost_events_are_reported(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x30, 7)
        result, _ = dump(bytes(data))
        self.assertEqual(result.returncode, 0)
        self.assertIn("7 events and 0 buffers were lost", result.stderr)
        result, _ = dump(etl.header_buffer(2) + etl.buffer([], flags=0x22))
        self.assertIn("events were lost after 1 buffers", result.stderr)

    def test_all_reasons_to_wait_have_names(self):
        _, lines = dump(etl.file(*(etl.perfinfo(0x0524, struct.pack(
            "<IIbbBBBBBBIi", 1, 2, 8, 8, 0, 0, reason, 0, 5, 0, 0, 0), 4) for reason in range(43))))
        reasons = [fields_of_line(line)["OldThreadWaitReason"] for line in lines[3:]]
        self.assertEqual((reasons[0], reasons[21], reasons[37], reasons[41], reasons[42]),
                         ("executive", "wr_keyed_event", "wr_alert_by_thread_id",
                          "wr_mdl_cache", "42"))
        self.assertFalse(any(reason.isdigit() for reason in reasons[:42]))

    def test_hook_ids_of_all_groups_have_names(self):
        names = {0x010A: "DiskRead", 0x020E: "PageFaultHard", 0x0301: "ProcessStart",
                 0x0440: "FileCreate", 0x0548: "ThreadSetName", 0x060A: "TcpIpSend",
                 0x061A: "TcpIpSendIPv6", 0x081B: "UdpIpReceiveIPv6", 0x0910: "RegQueryValue",
                 0x0B0A: "ConfigCpu", 0x0E22: "PoolFree", 0x0F2E: "SampledProfile",
                 0x0F44: "Dpc", 0x0F6D: "ShouldYieldProcessor", 0x14D5: "LdrSearchPathSecurity",
                 0x1820: "StackWalk", 0x1A25: "AlpcUnwait", 0x1A26: "Event"}
        data = etl.file(*(etl.perfinfo(hook_id, bytes(0x18) if hook_id == 0x1820 else b"")
                          for hook_id in names))
        _, lines = dump(data)
        # The stack's one address has a line of its own.
        self.assertEqual([line[2] for line in lines[3:] if len(line) > 2], list(names.values()))
        _, lines = dump(data, "--filter", "Event == dpc")
        self.assertEqual(fields_of_line(lines[0])["HookId"], "0x0f44")
        report = json.loads(run_tool_on("info", data, "--json").stdout)
        self.assertEqual((report["Events"]["Dpc"], report["Events"]["HookId 0x1a26"]), (1, 1))

    def test_header_events_are_printed(self):
        _, lines = dump(etl.file(etl.perfinfo(0x1234, b"")))
        self.assertEqual([fields_of_line(line)["HookId"] for line in lines[:3]],
                         ["0x0000", "0x0005", "0x0050"])

    def test_another_version_of_a_known_event_is_printed_without_fields(self):
        _, lines = dump(etl.file(etl.perfinfo(0x0529, bytes(8), version=1)))
        self.assertEqual(lines[3][2:], ["SpinLock", "HookId=0x0529 Version=1 Size=24"])

    def test_headers_without_a_hook_id_are_printed(self):
        event_header = struct.pack("<HBB", 0x58, 0x13, 0xC0).ljust(0x58, b"\0")
        result, lines = dump(etl.file(event_header, etl.wpp_event(7, data=bytes(8)),
                                      etl.perfinfo(0x0529, etl.spin_lock())))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(lines[3][3][:23], "HeaderType=0x13 Size=88")
        self.assertEqual(lines[4][3], "HeaderType=0x0f Size=16 Id=7")
        self.assertEqual(lines[5][2], "SpinLock")


if __name__ == "__main__":
    tap.main()
