#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traces from a pipe: each command prints what it prints for a file."""

import os
import random
import re
import select
import struct
import subprocess
import time

import etl_writer as etl
import tap
import tool

NTKLOG = tool.NTKLOG
NOWHERE = {**os.environ, "TMPDIR": "/nonexistent"}
# More than the tool keeps in memory.
MEMORY = 64 << 20


def spin_event(time_stamp, spins=1):
    return etl.perfinfo(0x0529, etl.spin_lock(spins=spins),
                        time_stamp=max(0, etl.START_CLOCK + time_stamp))


def ordered_buffers(count, processors=2):
    """Buffers in the order of their sequence numbers; the clock of each processor increases."""
    choose = random.Random(1)
    clocks = [0] * processors
    made = []
    for sequence in range(1, count + 1):
        processor = choose.randrange(processors)
        # A buffer with a greater sequence number begins later.
        clocks[processor] = max(clocks[processor], sequence * 100)
        events = []
        for _ in range(choose.randrange(1, 9)):
            clocks[processor] += choose.randrange(1, 60)
            events.append(spin_event(clocks[processor], sequence))
        made.append(etl.buffer(events, sequence=sequence, processor=processor))
    return made


class Streams(tool.Case):
    def run_on_file_and_pipe(self, data, *command, **options):
        """Status and output of the command, from the file and from a pipe."""
        with open(self.path, "wb") as stream:
            stream.write(data)
        results = []
        for path, given in ((self.path, None), ("-", data)):
            result = subprocess.run([NTKLOG, *command, path], input=given, capture_output=True,
                                    timeout=600, **options)
            output = result.stdout.decode(errors="surrogateescape")
            results.append((result.returncode, output.replace(self.path, "-"),
                            result.stderr.decode().replace(self.path, "-")))
        return results

    def check_same_output(self, data, *command, **options):
        of_file, of_pipe = self.run_on_file_and_pipe(data, *command, **options)
        self.assertEqual(of_pipe, of_file)
        return of_pipe

    def check_all_commands(self, data, **options):
        for command in ("dump",), ("report", "--json"), ("info",), ("convert", "--perfetto", "-"):
            self.check_same_output(data, *command, **options)

    def test_buffers_in_order_are_read(self):
        data = etl.header_buffer(101) + b"".join(ordered_buffers(100))
        self.check_all_commands(data, env=NOWHERE)
        self.assertEqual(self.check_same_output(data, "dump")[0], 0)

    def test_buffers_processor_by_processor_are_read(self):
        """The order that `cat header cpu0 cpu1` gives."""
        made = sorted(ordered_buffers(100), key=lambda buffer: buffer[0x28])
        self.check_all_commands(etl.header_buffer(101) + b"".join(made))

    def test_buffers_in_the_order_of_flushing_are_read(self):
        made = ordered_buffers(100)
        random.Random(2).shuffle(made)
        # The buffers of each processor remain in order.
        turns = [buffer[0x28] for buffer in made]
        queues = {turn: sorted((buffer for buffer in made if buffer[0x28] == turn),
                               key=lambda buffer: struct.unpack_from("<Q", buffer, 0x18))
                  for turn in set(turns)}
        self.check_all_commands(etl.header_buffer(101) +
                                b"".join(queues[turn].pop(0) for turn in turns))

    def test_stream_of_more_processors_than_its_header_says_is_read(self):
        made = ordered_buffers(100, 5)
        self.assertEqual(self.check_same_output(etl.header_buffer(101) + b"".join(made), "dump")[0],
                         0)
        made.sort(key=lambda buffer: buffer[0x28])
        of_file, of_pipe = self.run_on_file_and_pipe(etl.header_buffer(101) + b"".join(made),
                                                     "dump")
        self.assertEqual((of_file[0], of_pipe[0]), (0, 1))
        self.assertEqual(sorted(of_pipe[1].splitlines()), sorted(of_file[1].splitlines()))
        self.assertIn("came too late to be in the order of time: write the stream to a file", of_pipe[2])

    def test_late_buffers_without_a_first_time_are_reported(self):
        made = [etl.buffer([spin_event(100 + i * etl.PERF_FREQ)], sequence=1 + i) for i in range(5)]
        for first in etl.wpp_event(1), spin_event(-100 * etl.PERF_FREQ):
            late = etl.buffer([first, spin_event(50)], sequence=6, processor=1)
            of_file, of_pipe = self.run_on_file_and_pipe(etl.header_buffer(7) + b"".join(made) +
                                                         late, "dump")
            self.assertNotEqual(of_pipe[1], of_file[1])
            self.assertEqual(of_pipe[0], 1)
            self.assertIn("1 buffers came too late to be in the order of time", of_pipe[2])

    def test_stream_with_repeated_or_missing_buffers_reads_as_the_file(self):
        made = ordered_buffers(9)
        for order in ((0, 1, 1, 2), (2, 0, 1, 0), (0, 1, 4, 5), (8, 3)):
            data = etl.header_buffer(1 + len(order)) + b"".join(made[i] for i in order)
            self.assertEqual(self.check_same_output(data, "dump")[0], 1)
            self.check_same_output(data, "report", "--json")
        other = etl.buffer([spin_event(950)], sequence=9, processor=1)
        self.check_same_output(etl.header_buffer(11) + b"".join(made) + other, "dump")
        again = etl.header_buffer(12) + b"".join(made) + other + made[8]
        self.assertIn("left out: 1 buffers that are in the file twice",
                      self.check_same_output(again, "dump")[2])

    def test_a_damaged_event_is_no_missing_buffer(self):
        rates = [etl.spinlock_rundown(), etl.resource_rundown()]
        damaged = bytearray(etl.buffer([spin_event(2)], sequence=2))
        damaged[0x48 + 2] = 0xFF
        data = etl.header_buffer(4) + etl.buffer([*rates, spin_event(1)]) + damaged + \
            etl.buffer([spin_event(4)], sequence=4)
        for command in "dump", "report", "info":
            self.assertIn("1 buffers are missing, from sequence number 3 on",
                          self.check_same_output(data, command)[2])

    def test_many_sequence_numbers_in_any_order_take_no_quadratic_time(self):
        """An algorithm that takes the square of the count would take long for so many numbers."""
        size, count = 0x400, 20000
        head = bytearray(etl.header_buffer(0, end_time=0)[:size])
        struct.pack_into("<I", head, 0, size)
        struct.pack_into("<I", head, 0x48 + 0x20, size)
        buffer = bytearray(etl.buffer([spin_event(1)], size=size))
        for number in (lambda i: count - i), (lambda i: 1):
            data = bytearray(head)
            for i in range(count):
                struct.pack_into("<q", buffer, 0x18, number(i))
                struct.pack_into("<I", buffer, size - 4, i)
                data += buffer
            self.check_same_output(bytes(data), "info")

    def test_rates_are_found_though_they_come_late(self):
        made = [etl.buffer([spin_event(i)], sequence=1 + i) for i in range(20)]
        made.append(etl.buffer([etl.spinlock_rundown(1, 5, 2000), spin_event(30)], sequence=21,
                               processor=1))
        data = etl.header_buffer(22) + b"".join(made)
        self.check_same_output(data, "report", "--json", env=NOWHERE)
        self.check_same_output(data, "info", env=NOWHERE)

    def test_stream_that_keeps_its_last_buffers_is_stored_first(self):
        for mode in 0x2, 0x400:
            data = bytearray(etl.header_buffer(51) + b"".join(ordered_buffers(60)[10:]))
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, mode)
            self.check_all_commands(bytes(data))
            of_file, of_pipe = self.run_on_file_and_pipe(bytes(data), "dump", env=NOWHERE)
            self.assertEqual((of_file[0], of_pipe[0]), (0, 1))
            self.assertIn("TMPDIR: /nonexistent: No such file or directory", of_pipe[2])

    def test_compressed_stream_is_refused(self):
        """Only the first buffer can be read; the others are not marked as compressed."""
        data = bytearray(etl.header_buffer(11) + b"".join(ordered_buffers(10)))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x04000000)
        self.assertEqual(self.check_same_output(bytes(data), "info")[0], 1)
        self.check_same_output(bytes(data), "dump")

    def test_preallocated_stream_is_read(self):
        data = bytearray(etl.header_buffer(11) + b"".join(ordered_buffers(10)) +
                         bytes(5 * etl.SIZE))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x20)
        self.assertEqual(self.check_same_output(bytes(data), "dump")[0], 0)

    def test_damaged_stream_reads_as_the_file(self):
        data = etl.header_buffer(4) + b"".join(ordered_buffers(3))
        places = list(range(0x48 + 0x20 + 0x120)) + \
            [number * etl.SIZE + at for number in (1, 3) for at in range(0x48 + 0x58)]
        for at in places[::5]:
            changed = bytearray(data)
            changed[at] ^= 0xFF
            self.check_same_output(bytes(changed), "dump", env=tool.NO_LEAK_CHECK)
        for length in range(0, len(data), 389):
            self.check_same_output(data[:length], "dump", env=tool.NO_LEAK_CHECK)

    def test_events_come_as_they_are_written(self):
        """The tool prints an event once no earlier one can follow."""
        made = ordered_buffers(400)
        process = subprocess.Popen([NTKLOG, "dump", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=NOWHERE)
        try:
            process.stdin.write(etl.header_buffer(0, end_time=0))
            for number, buffer in enumerate(made):
                # An event one second later makes the order of all before it certain.
                if number == 200:
                    made[number:] = [etl.buffer([spin_event(etl.PERF_FREQ)], sequence=201)]
                    process.stdin.write(made[200])
                    break
                process.stdin.write(buffer)
            process.stdin.flush()
            seen, end = b"", time.monotonic() + 300
            wanted = re.compile(rb"SpinCount=200 .*\n")
            while not wanted.search(seen) and time.monotonic() < end:
                if select.select([process.stdout], [], [], 1)[0]:
                    seen += os.read(process.stdout.fileno(), 1 << 16)
            self.assertTrue(wanted.search(seen))
            self.assertIsNone(process.poll())
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait()

    def test_a_pipe_that_does_not_wait_is_waited_for(self):
        """Another process that has the pipe may have made it nonblocking."""
        data = etl.header_buffer(11) + b"".join(ordered_buffers(10))
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        with subprocess.Popen([NTKLOG, "dump", "-"], stdin=reader, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=NOWHERE) as process:
            os.close(reader)
            with open(writer, "wb", buffering=0) as stream:
                for at in range(0, len(data), 9999):
                    time.sleep(.1)
                    if process.poll() is None:
                        stream.write(data[at:at + 9999])
            printed, errors = process.communicate(timeout=600)
        self.assertEqual((process.returncode, errors), (0, b""))
        self.assertEqual(printed.decode(), self.check_same_output(data, "dump")[1])

    def test_buffers_beyond_the_memory_go_to_a_file(self):
        """One processor has no events until the end, and no sequence numbers tell that."""
        size = 1 << 20
        def buffer(sequence, processor, time_stamp):
            return etl.buffer([spin_event(time_stamp)], sequence=sequence, processor=processor,
                              size=size)
        count = MEMORY // size + 10
        data = bytearray(buffer(0, 0, 0))
        data[0x48:etl.SIZE] = etl.header_buffer(0)[0x48:]
        data[:0x48] = etl.header_buffer(0)[:0x48]
        # All buffers of the file are as large as the first one.
        struct.pack_into("<I", data, 0, size)
        struct.pack_into("<I", data, 0x48 + 0x20, size)
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x24, count + 2)
        data += b"".join(buffer(2 + i, 0, 10 + i) for i in range(count)) + buffer(1, 1, 5)
        of_file, of_pipe = self.run_on_file_and_pipe(bytes(data), "dump")
        self.assertEqual(of_file[0], 0, of_file[2])
        self.assertEqual(of_pipe, of_file)
        self.assertIn("TMPDIR: /nonexistent: No such file or directory",
                      self.run_on_file_and_pipe(bytes(data), "dump", env=NOWHERE)[1][2])

    def test_file_of_an_endless_stream_stays_small(self):
        """From an endless stream the file keeps somewhat more than what memory has no room for."""
        size, processor, late = 1 << 20, (0, 1), MEMORY // (1 << 20) + 30
        head = bytearray(etl.header_buffer(0, end_time=0).ljust(size, b"\xff"))
        struct.pack_into("<I", head, 0, size)
        struct.pack_into("<I", head, 0x48 + 0x20, size)
        # As long as sequence number 1 is missing, no event's place is certain.
        times = [(0, i) for i in range(late)] + \
            [(each, i + (0 if each else late)) for i in range(150) for each in processor]
        with subprocess.Popen([NTKLOG, "dump", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL,
                              env={**os.environ, "TMPDIR": self.directory.name}) as process:
            process.stdin.write(head)
            for number, (each, time_stamp) in enumerate(times):
                process.stdin.write(etl.buffer([spin_event(time_stamp)], sequence=2 + number,
                                               processor=each, size=size))
            process.stdin.flush()
            files = "/proc/%d/fd" % process.pid
            spooled = [os.stat(os.path.join(files, name)) for name in os.listdir(files)
                       if self.directory.name in os.readlink(os.path.join(files, name))]
            process.stdin.close()
            self.assertEqual(process.wait(60), 0)
        self.assertEqual(len(spooled), 1)
        self.assertGreater(spooled[0].st_size, 200 << 20)
        self.assertLess(spooled[0].st_blocks * 512, 80 << 20)


if __name__ == "__main__":
    tap.main()
