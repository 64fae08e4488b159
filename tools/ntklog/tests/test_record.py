#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog record on sessions like the module's."""

import json
import os
import pty
import resource
import signal
import subprocess
import time

import etl_writer as etl
import tap
from module import STATS, Directory



class Record(Directory):
    """The files of the directory do not grow."""

    def setUp(self):
        super().setUp()
        self.etl = os.path.join(self.directory, "a.etl")
        self.data = etl.buffer([etl.perfinfo(0x0529, etl.spin_lock())])
        self.write_session(7, etl.header_buffer(2), self.data)
        self.write_session_file(7, "stats", STATS % 0)

    def start_record(self, *arguments, path=None, **options):
        return self.start_tool("record", "--no-names", "-o", path or self.etl, *arguments,
                               **options)

    def record_to_end(self, *arguments, status=0, **options):
        process = self.start_record(*arguments, **options)
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, status, error)
        return error

    def record_past_a_command(self, path, command):
        """Record COMMAND, which writes its process id to PATH, for a shorter time than it runs."""
        for duration in ".3", "3", "30", "300":
            error = self.record_to_end("--duration", duration, "--", "sh", "-c", command)
            # On a busy machine the recording may be over before the command has written its number.
            if os.path.exists(path) and os.path.getsize(path):
                break
        return error

    def process_is_alive(self, path):
        with open(path) as stream:
            pid = int(stream.read())
        # Init adopts the orphan; if init does not wait for it, the orphan stays a zombie.
        try:
            with open("/proc/%d/stat" % pid) as stream:
                return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_record_returns_the_status_of_the_command(self):
        self.record_to_end("--", "sh", "-c", "exit 7", status=7)
        self.record_to_end("--", "/nonexistent", status=127)
        # The status is the same if the error message cannot be written.
        with open("/dev/full", "w") as full:
            process = self.run_tool("record", "--no-names", "-o", self.etl, "--", "/nonexistent",
                                    capture_output=False, stderr=full,
                                    stdin=subprocess.DEVNULL)
        self.assertEqual(process.returncode, 127)

    def test_signal_that_has_ended_the_command_is_told(self):
        def error_of(name, status):
            return self.record_to_end("--", "sh", "-c", "kill -%s $$" % name, status=status)
        self.assertIn("sh was ended by signal 15 (Terminated)\n", error_of("TERM", 143))
        self.assertIn("sh was ended by signal 9 (Killed): if memory ran out (see dmesg), record with "
                      "fewer buffers (-n)\n", error_of("KILL", 137))
        self.assertNotIn("signal", error_of("INT", 130))

    def test_command_that_duration_ends_gives_status_0(self):
        pid = os.path.join(self.directory, "pid")
        self.record_past_a_command(pid, "sleep 1000 & echo $! >%s; wait" % pid)
        self.wait_for(lambda: not self.process_is_alive(pid))

    def test_command_that_ignores_sigterm_is_killed(self):
        pid = os.path.join(self.directory, "pid")
        command = "trap '' TERM; echo $$ >%s; while :; do sleep 1; done" % pid
        error = self.record_past_a_command(pid, command)
        self.assertIn("sh has not ended 5 seconds after SIGTERM: it is killed", error)
        self.wait_for(lambda: not self.process_is_alive(pid))
        # After a second signal the tool does not wait for the command any more.
        os.unlink(pid)
        process = self.start_record("--", "sh", "-c", command)
        while not os.path.exists(pid):
            time.sleep(.05)
        start = time.monotonic()
        process.terminate()
        while process.poll() is None and time.monotonic() < start + 600:
            time.sleep(.1)
            process.terminate()
        error = process.communicate()[1]
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"sh has not ended at a second signal: it is killed", error)

    def test_endless_buffers_do_not_delay_the_stop(self):
        """Work on a buffer may make events for the next one, until the session is stopped."""
        os.unlink(self.session_path(7, "cpu0"))
        os.symlink("/dev/zero", self.session_path(7, "cpu0"))
        process = self.start_record("--duration", ".3", path="-", stdout=subprocess.DEVNULL)
        end = time.monotonic() + 600
        self.wait_for(lambda: os.path.exists(self.session_path(7, "start")))
        while self.read_session_file(7, "state") != "stopped\n" and time.monotonic() < end:
            time.sleep(.05)
        process.kill()
        process.communicate()
        self.assertLess(time.monotonic(), end)

    def test_short_caller_of_an_older_module_at_the_end_of_a_buffer_is_read(self):
        """With ASan: the event has 16 bytes of data in version 1, and 56 in version 2."""
        record = etl.linux_lock_event("mutex", thread=55)
        caller = etl.caller_event(0x40, 0x50)
        count, rest = divmod(etl.SIZE - 0x48 - len(caller), len(record))
        data = etl.buffer([record] * count + [etl.perfinfo(0x0F00, bytes(rest - 16))] + [caller])
        self.assertTrue(data.endswith(caller))
        self.write_session(7, etl.header_buffer(2), data)
        self.write_session_file(7, "stats", STATS % 0)
        result = self.run_tool("record", "-e", "spinlock", "--duration", ".1", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_an_earlier_file_is_kept(self):
        for path in self.etl, self.etl + ".names":
            with open(path, "w") as stream:
                stream.write("earlier")
        for number in range(3):
            self.record_to_end("--duration", ".1")
            with open(self.etl, "rb") as stream:
                self.assertEqual(stream.read(), etl.header_buffer(2) + self.data)
            self.assertFalse(os.path.exists(self.etl + ".names"))
            self.assertEqual(os.path.exists(self.etl + ".old.names"), not number)
            with open(self.etl + ".old", "rb") as stream:
                self.assertEqual(stream.read() == b"earlier", not number)
        self.assertEqual(os.stat(self.etl).st_mode & 0o777, 0o600)

    def test_trace_is_written_to_a_fifo_and_a_pipe(self):
        fifo = os.path.join(self.directory, "fifo")
        os.mkfifo(fifo)
        process = self.start_record("--duration", ".3", path=fifo)
        with open(fifo, "rb") as stream:
            self.assertEqual(stream.read(), etl.header_buffer(2) + self.data)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        # The output of the command is not in the trace.
        process = self.start_record("--", "echo", "hello", path="-", stdout=subprocess.PIPE)
        out, error = process.communicate()
        self.assertEqual((process.returncode, out), (0, etl.header_buffer(2) + self.data))
        self.assertIn(b"hello\n", error)
        self.assertFalse(os.path.exists("-.names"))

    def test_closed_pipe_ends_the_recording_with_status_1(self):
        process = self.start_record(path="-", stdout=subprocess.PIPE)
        process.stdout.read(etl.SIZE)
        process.stdout.close()
        with open(self.session_path(7, "cpu0"), "ab") as stream:
            for number in range(2, 200):
                stream.write(etl.buffer([], sequence=number))
        error = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(60), 1)
        self.assertIn("standard output: Broken pipe", error)

    def test_trace_to_a_terminal_is_refused(self):
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("this machine has no pseudo terminals")
        self.assertIn("-o -: the standard output is a terminal",
                      self.record_to_end(path="-", status=1, stdout=slave))
        os.close(master)
        os.close(slave)

    def test_signal_while_the_start_attaches_stops_everything(self):
        self.write_session_file(7, "slow_start", "")
        self.write_file("linux_mode", "full")
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process = self.start_record("--mode", "waits")
            self.wait_for(lambda: os.path.exists(self.session_path(7, "is_starting")))
            process.send_signal(number)
            error = process.communicate(timeout=600)[1].decode()
            self.assertEqual(process.returncode, 1)
            self.assertIn("session 7: interrupted while it started: nothing was recorded", error)
            self.assertEqual(self.read_session_file(7, "state"), "stopped\n")
            self.assertEqual(self.read_file("linux_mode")[:4], "full")
            self.assertFalse(os.path.exists(self.etl))
            os.unlink(self.session_path(7, "is_starting"))

    def test_closing_line_counts_what_is_in_the_file(self):
        error = self.record_to_end("--duration", ".1")
        self.assertIn("a.etl: 1 events in 1 buffers, 0.0 MB; 3 lost\n", error)

    def test_two_recordings_get_sessions_of_their_own(self):
        self.write_session(6, etl.header_buffer(2), self.data)
        self.write_session_file(6, "stats", STATS % 0)
        first = self.start_record("-e", "spinlock")
        self.wait_for(lambda: self.read_session_file(7, "state") == "started\n")
        self.record_to_end("-e", "contextswap", "--duration", ".1", path=self.etl + "2")
        first.terminate()
        first.communicate()
        self.assertEqual((self.groups_of_session(7), self.groups_of_session(6)),
                         ("PERF_SPINLOCK", "PERF_CONTEXT_SWITCH"))

    def test_file_of_a_running_recording_is_refused(self):
        first = self.start_record()
        self.wait_for(lambda: os.path.exists(self.etl) and os.path.getsize(self.etl) == 2 * etl.SIZE)
        self.write_session(6, etl.header_buffer(2), self.data)
        self.write_session_file(6, "stats", STATS % 0)
        error = self.record_to_end("--duration", ".1", status=1)
        self.assertIn("a.etl: another recording is writing this file: choose another name (-o)", error)
        self.assertFalse(os.path.exists(self.etl + ".old"))
        first.terminate()
        first.communicate()
        with open(self.etl, "rb") as stream:
            self.assertEqual(stream.read(), etl.header_buffer(2) + self.data)

    def test_full_disk_leaves_a_file_with_its_own_numbers(self):
        """There is space for only one of the three buffers, which have an event each."""
        buffers = [etl.buffer([etl.perfinfo(0x0529, etl.spin_lock())], sequence=number)
                   for number in (1, 2, 3)]
        self.write_session(7, etl.header_buffer(4), *buffers)
        self.write_session_file(7, "stats", "total 3 3 0 3 0 0\n")
        limit = 5 * etl.SIZE // 2
        error = self.record_to_end("--duration", "600", status=1,
                                   preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertIn("a.etl: File too large\n", error)
        self.assertIn("a.etl: 1 events in 1 buffers, 0.0 MB; 2 lost\n", error)
        self.assertIn("2 buffers with 2 events could not be written: make space", error)
        info = json.loads(self.run_tool("info", "--json", self.etl).stdout)
        header = info["Header"]
        self.assertEqual((header["BuffersWritten"], header["BuffersLost"], header["EventsLost"]),
                         (2, 2, 2))
        self.assertEqual(os.path.getsize(self.etl), 2 * etl.SIZE)

    RATES = ["spinlock/acquire_sample_rate", "resource/release_sample_rate"]

    def test_rates_are_prime_while_it_records(self):
        for name, rate in (("spinlock", "1000"), ("resource", "2000")):
            os.mkdir(os.path.join(self.directory, name))
        for first, second, during in (("1000", "1000", ["1009", "1009"]),
                                      ("1000", "2000", ["1009", "2000"])):
            for name, rate in zip(self.RATES, (first, second)):
                self.write_file(name, rate)
            process = self.start_record()
            self.wait_for(lambda: self.read_session_file(7, "state") == "started\n")
            self.assertEqual([self.read_file(name) for name in self.RATES], during)
            process.terminate()
            process.communicate()
            self.assertEqual([self.read_file(name) for name in self.RATES], [first, second])

    def test_rates_stay_while_another_session_runs(self):
        os.mkdir(os.path.join(self.directory, "spinlock"))
        self.write_file(self.RATES[0], "1000")
        self.write_session_file(0, "state", "started\n")
        process = self.start_record()
        self.wait_for(lambda: self.read_session_file(7, "state") == "started\n")
        self.assertEqual(self.read_file(self.RATES[0]), "1000")
        process.terminate()
        process.communicate()

    def test_blockers_are_on_while_it_records(self):
        os.mkdir(os.path.join(self.directory, "spinlock"))
        self.write_file("linux_mode", "full")
        for mode, before, options, rate in (
                ("full", "0", (), "1"), ("full", "3", (), "3"), ("waits", "0", (), "0"),
                ("sampled", "0", (), "1"), ("holders", "0", (), "1"), ("sampled", "0", ("--blockers=7",), "7"),
                ("full", "0", ("--blockers",), "1"), ("full", "0", ("--blockers=7",), "7"),
                ("full", "3", ("--no-blockers",), "0"), ("waits", "3", ("--no-blockers",), "0")):
            self.write_file("linux_mode", mode)
            self.write_file("spinlock/blockers", before)
            process = self.start_record(*options)
            self.wait_for(lambda: self.read_session_file(7, "state") == "started\n")
            self.assertEqual(self.read_file("spinlock/blockers"), rate)
            process.terminate()
            process.communicate()
            self.assertEqual(self.read_file("spinlock/blockers"), before)

    def test_blockers_stay_while_another_session_runs(self):
        os.mkdir(os.path.join(self.directory, "spinlock"))
        self.write_file("linux_mode", "full")
        self.write_file("spinlock/blockers", "0")
        self.write_session_file(0, "state", "started\n")
        self.record_to_end("--duration", ".1")
        self.assertEqual(self.read_file("spinlock/blockers"), "1")

    def test_blockers_that_cannot_be_recorded_are_refused(self):
        self.write_file("linux_mode", "waits")
        self.assertIn("--blockers: mode waits does not record the holders of Linux' locks: add "
                      "--holders, or use --mode full", self.record_to_end("--blockers", status=1))
        self.write_file("linux_mode", "full")
        self.assertIn("--blockers: the loaded module does not record blockers: load a newer one",
                      self.record_to_end("--blockers", status=1))
        self.record_to_end("--no-blockers", "--duration", ".1")


class Defaults(Directory):

    SLEEPING = ["mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex"]

    def setUp(self):
        super().setUp()
        for number in range(8):
            self.write_session(number, etl.header_buffer(1))

    def run_record(self):
        return self.run_tool("record", "--no-names", "-o", os.path.join(self.directory, "a.etl"),
                             "--duration", ".1")

    def test_default_has_no_stacks(self):
        self.run_record()
        self.assertEqual(self.read_settings(7)["stacks"], 0)

    def test_default_has_locks_that_spin(self):
        for (spin, rw), more in ((("off, 10 functions", "off, 19 functions"),
                                  " PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"),
                                 (("unavailable: linux_locks=0", "off, 19 functions"),
                                  " PERF_LINUX_RWLOCK"),
                                 (("failed: _raw_spin_lock (-16)", "unavailable: x"),
                                  " PERF_LINUX_SPINLOCK")):
            self.write_file("linux", "spinlock: %s\nrwlock: %s\n" % (spin, rw))
            self.run_record()
            self.assertEqual(self.groups_of_session(7), "PERF_SPINLOCK PERF_SYNC_OBJECTS" + more)

    def test_default_has_locks_that_sleep(self):
        for lines, there in (({}, self.SLEEPING),
                             ({"semaphore": "unavailable: linux_locks=0",
                               "ww_mutex": "failed: x (-16)"},
                              [kind for kind in self.SLEEPING if kind != "semaphore"])):
            self.write_file("linux", "".join(
                "%s: %s\n" % (kind, lines.get(kind, "off, 3 functions"))
                for kind in ["spinlock", "rwlock"] + self.SLEEPING))
            result = self.run_record()
            self.assertEqual(self.groups_of_session(7),
                             "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK" +
                             "".join(" PERF_LINUX_" + kind.upper() for kind in there))
            self.assertNotIn("left out", result.stderr)


class RecordMode(Directory):
    """record --mode. In the fake directory a write leaves the rest of a longer file."""

    def setUp(self):
        super().setUp()
        self.etl = os.path.join(self.directory, "a.etl")
        self.write_file("linux_mode", "full")
        for number in 3, 7:
            self.write_session(number, etl.header_buffer(1))

    def run_record(self, mode, *arguments, status=0, path=None):
        result = self.run_tool("record", "--mode", mode, "--no-names", "--duration", ".1", "-o",
                               path or self.etl, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def test_unknown_modes_are_refused(self):
        self.assertIn('--mode: "most" is not full, sampled, waits or holders',
                      self.run_record("most", status=2))
        os.unlink(os.path.join(self.directory, "linux_mode"))
        self.assertEqual(self.run_record("waits", status=1),
                         "ntklog: mode waits: the loaded module has no modes: load a newer one\n")

    def test_holders_are_those_of_mode_waits(self):
        self.run_record("waits", "--holders")
        self.assertEqual(self.read_file("linux_mode")[:7], "holders")
        for arguments in ("--holders",), ("--holders", "--mode", "full"), ("--holders", "--mode", "sampled"):
            error = self.run_tool("record", *arguments).stderr
            self.assertIn("--holders: add --mode waits; the other modes record holders without it", error)

    def test_options_that_leave_nothing_of_mode_holders_are_refused(self):
        for arguments, reason in ((("--no-blockers",), "leave one of them out"),
                                  (("-e", "linux_mutex"), "add linux_spinlock, or use --mode waits"),
                                  (("-e", "linux_rwlock"), "add linux_spinlock, or use --mode waits")):
            for mode in ("waits", "--holders"), ("holders",):
                self.assertIn(reason, self.run_record(*mode, *arguments, status=2))
        self.assertEqual(self.read_file("linux_mode"), "full")

    def test_mode_holders_is_refused_where_it_is_unavailable(self):
        self.write_file("linux", "spinlock: unavailable: no tracepoint\nrwlock: off, waits only\n")
        for mode in ("waits", "--holders"), ("holders",):
            self.assertIn("mode holders: spin locks are unavailable: no tracepoint\n",
                          self.run_record(*mode, status=1))
            self.assertEqual(self.read_file("linux_mode")[:4], "full")

    def test_mode_stays_after_a_recording(self):
        self.run_record("sampled", "--session", "3")
        self.assertEqual(self.read_file("linux_mode"), "sampled")

    def test_no_free_session_changes_nothing(self):
        for number in range(8):
            self.write_session_file(number, "state", "started\n")
        self.run_record("waits", status=1)
        self.assertEqual(self.read_file("linux_mode"), "full")

    def test_failed_start_restores_the_mode(self):
        self.write_session_file(3, "fail_start", "12\n")
        self.assertIn("session 3: no memory",
                      self.run_record("sampled", "--session", "3", status=1))
        self.assertEqual(self.read_file("linux_mode"), "full")

    def test_failed_file_restores_the_mode(self):
        self.run_record("sampled", "--session", "3", path="/nonexistent/x.etl", status=1)
        self.assertEqual(self.read_file("linux_mode"), "full")

    def test_locks_that_sleep_are_left_out_in_cheaper_modes(self):
        """The cheaper modes record sleeping locks only with -e."""
        for kinds in ["mutex: off, 9 functions\n", ""]:
            self.write_file("linux", "spinlock: off, 10 functions\n" + kinds)
            for mode in "sampled", "waits", "full":
                with self.subTest(mode, kinds=kinds):
                    self.write_file("linux_mode", "")
                    error = self.run_record(mode)
                    wanted = "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK"
                    if mode == "full" and kinds:
                        wanted += " PERF_LINUX_MUTEX"
                    self.assertEqual(self.groups_of_session(7), wanted)
                    self.assertEqual(
                        [line for line in error.splitlines() if "not recorded" in line],
                        ["ntklog: mode %s: Linux' locks that sleep are not recorded, for every mode "
                         "tracks them in full (-e records them)" % mode]
                        if mode != "full" and kinds else [])
        self.write_file("linux", "mutex: off, 9 functions\n")
        self.assertNotIn("not recorded", self.run_record("sampled", "-e", "linux_mutex"))
        self.assertEqual(self.groups_of_session(7), "PERF_LINUX_MUTEX")


if __name__ == "__main__":
    tap.main()
