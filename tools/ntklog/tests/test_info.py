#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog info: what a file says of itself."""

import json
import struct
import unittest

import etl_writer as etl
import tap
from tool import run_tool_on, undescribed_fields


class Info(unittest.TestCase):
    def test_header_and_event_counts_are_printed(self):
        events = [etl.spinlock_rundown(), etl.perfinfo(0x0529, etl.spin_lock()),
                  etl.perfinfo(0x0529, etl.spin_lock()), etl.perfinfo(0x1234, b""),
                  etl.wpp_event(1)]
        for bits in 64, 32:
            data = etl.file(*(events if bits == 64 else [etl.wpp_event(1)]), bits=bits)
            info = json.loads(run_tool_on("info", data, "--json").stdout)
            header = info["Header"]
            self.assertEqual((header["BufferSize"], header["Version"], header["PointerSize"]),
                             (4096, "10.0.1.5", bits // 8))
            self.assertEqual((header["LogFileMode"], header["Clock"], header["PerfFreq"]),
                             ("0x00000001 sequential", "processor cycles", 2000000))
            self.assertEqual((header["StartTime"], header["LoggerName"], header["LogFileName"]),
                             ("2019-04-17 18:40:00.0000000 UTC", "Logger", "file.etl"))
            self.assertEqual(header["GroupMask"], " ".join(["0x00000000"] * 8))
            self.assertEqual(header["Groups"], "")
            at = data.index(struct.pack("<HH", 0x44, 0x0005)) + 0x1C
            masks = data[:at] + struct.pack("<II", 0x2000012, 0x10004) + data[at + 8:]
            self.assertEqual(json.loads(run_tool_on("info", masks,
                                                    "--json").stdout)["Header"]["Groups"],
                             "thread cswitch file_io contextswap spinlock")
            masks = data[:at + 20] + struct.pack("<I", 0x1FF) + data[at + 24:]
            self.assertEqual(json.loads(run_tool_on("info", masks,
                                                    "--json").stdout)["Header"]["Groups"],
                             "linux_spinlock linux_rwlock linux_mutex linux_rwsem linux_semaphore "
                             "linux_rt_mutex linux_percpu_rwsem linux_ww_mutex")
            masks = data[:at] + b"\xff" * 32 + data[at + 32:]
            self.assertTrue(json.loads(run_tool_on("info", masks,
                                                   "--json").stdout)["Header"]["Groups"]
                            .endswith(" linux_ww_mutex"))
            self.assertEqual(info["Contents"]["Buffers"], 2)
            self.assertEqual(undescribed_fields({**info, "Sampling": {}, "Events": {}}, "info"),
                             set())
            if bits == 64:
                self.assertEqual(info["Events"], {"SpinLockDCStart": 1, "SpinLock": 2,
                                                  "HookId 0x1234": 1, "WppMessage": 1})
                self.assertEqual(info["Sampling"]["spinlock"]["acquire_sample_rate"], 1000)
        text = run_tool_on("info", etl.file(*events)).stdout
        self.assertRegex(text, r"\n  LoggerName +Logger\n")
        self.assertRegex(text, r"\n  SpinLock +2\n")

    def test_resources_are_counted_by_kind(self):
        events = [etl.perfinfo(0x052B, etl.resource_data())] + \
            [etl.linux_lock_event(kind, action) for kind in etl.LINUX_KINDS
             for action in (0x22, 0x244)] + \
            3 * [etl.perfinfo(0x052B, etl.resource_data(action=0x80990022))]
        info = json.loads(run_tool_on("info", etl.file(*events), "--json").stdout)
        self.assertEqual(info["Events"], {"Resource": 1, "Resource, class 0x80990000": 3,
                                          **{"Resource, " + kind: 2 for kind in etl.LINUX_KINDS}})

    def test_classes_beyond_the_limit_are_counted_together(self):
        data = etl.header_buffer(111)
        for i in range(110):
            data += etl.buffer([etl.perfinfo(0x052B,
                                             etl.resource_data(action=(0x9000 + 40 * i + j) << 16))
                                for j in range(40)], sequence=i + 1)
        events = json.loads(run_tool_on("info", data, "--json").stdout)["Events"]
        self.assertEqual((len(events), events["Resource"]), (4097, 4400 - 4096))

    def test_extreme_numbers_are_printed(self):
        for offset, kind, least, name, text in (
                (0x48, "<i", -1 << 31, "LocalTimeFromUtc", "2147483648 minutes"),
                (0xF8, "<q", -1 << 63, "BootTime", "-9223372036854775808, none"),
                (-0x10, "<q", -1 << 63, "StartClock", str(1 << 63)),
                (-0x10, "<q", (1 << 63) - 1, "StartClock", (1 << 63) - 1)):
            data = bytearray(etl.file())
            # No event can be later than the time at which the buffer was flushed.
            struct.pack_into("<q", data, 0x10, least if kind == "<q" else 0)
            struct.pack_into(kind, data, 0x48 + 0x20 + offset, least)
            self.assertEqual(json.loads(run_tool_on("info", bytes(data), "--json").stdout)["Header"]
                             [name], text)

    def test_control_characters_of_names_are_replaced(self):
        data = etl.file().replace("file.etl".encode("utf-16-le"),
                                  "\x1b[m\x9b\ud7ff\u65e5x".encode("utf-16-le") + b"\0\xd8")
        self.assertEqual(json.loads(run_tool_on("info", data, "--json").stdout)["Header"]
                         ["LogFileName"], "?[m??\ud7ff\u65e5x?")

    def test_damaged_buffers_are_counted(self):
        data = etl.header_buffer(2) + b"x" * etl.SIZE
        result = run_tool_on("info", data)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"DamagedBuffers +1\n")


if __name__ == "__main__":
    tap.main()
