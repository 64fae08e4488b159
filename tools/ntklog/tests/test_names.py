#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""FILE.names, written beside a trace of sessions like the module's."""

import json
import os
import struct
import time

import etl_writer as etl
import tap
from module import STATS, Directory
from tool import run_tool


KALLSYMS = """0000000000000000 A fixed_percpu_data
000000000002d000 A __per_cpu_end
ffffffff81000000 T _text
ffffffff81234000 T caller
ffffffff81234568 t after
ffffffff81300000 T unused
ffffffff81400000 T unused_too
ffffffff82000000 B the_lock
ffffffff82001000 B _end
ffffffffc0000000 t unused_code\t[old]
"""
OLD = "ffffffffc0000000 t unused_code\t[old]\n"
MODULE = "ffffffffc0100000 t new_code\t[new]\nffffffffc0100040 d new_lock\t[new]\n"


class Names(Directory):

    def setUp(self):
        super().setUp()
        self.proc = os.path.join(self.directory, "proc")
        self.ENVIRONMENT = {"NTKLOG_PROC": self.proc}
        for thread, name in ((55, "worker"), (56, "unused")):
            os.makedirs(os.path.join(self.proc, "55", "task", str(thread)))
            os.makedirs(os.path.join(self.proc, str(thread)), exist_ok=True)
            self.write_proc("%d/comm" % thread, name + "\n")
        self.write_proc("kallsyms", KALLSYMS)
        self.write_proc("modules", "old 16384 1 - Live 0xffffffffc0000000\n")
        self.etl = os.path.join(self.directory, "a.etl")

    def write_proc(self, name, text):
        with open(os.path.join(self.proc, name), "w") as stream:
            stream.write(text)

    def log_buffers(self, number, *buffers):
        self.write_session(number, etl.header_buffer(1 + len(buffers)), *buffers)
        if number == 7:
            self.write_session_file(7, "stats", STATS % 0)

    def read_names_file(self):
        with open(self.etl + ".names") as stream:
            return stream.read().splitlines()

    @staticmethod
    def spin_event(**changes):
        return etl.perfinfo(0x0529, etl.spin_lock(**{"address": 0xffffffff82000030, **changes}))

    EXPECTED = ["ffffffff81234000 T caller", "ffffffff81234568 t after",
                "ffffffff82000000 B the_lock", "ffffffff82001000 B _end", "thread 55 worker"]

    def test_stop_writes_names_of_what_is_in_the_file(self):
        self.log_buffers(2,
                         etl.buffer([self.spin_event(), self.spin_event(address=0xffff888012345678),
                                self.spin_event(address=0x12345678)]))
        for _ in range(2):
            result = self.run_tool("stop", "2", "-o", self.etl)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(sorted(self.read_names_file()), sorted(self.EXPECTED))
            self.assertEqual(os.stat(self.etl + ".names").st_mode & 0o777, 0o600)
            # A file that other users may read is replaced, not overwritten.
            os.chmod(self.etl + ".names", 0o644)
        locks = json.loads(run_tool("report", "--json", self.etl).stdout)["locks"]
        self.assertEqual(sorted(row["lock"] for row in locks),
                         ["0x12345678", "0xffff888012345678", "the_lock+0x30"])

    def test_names_that_cannot_be_read_tell_how_to_do_without(self):
        with open(self.etl, "wb") as stream:
            stream.write(etl.file(self.spin_event()))
        os.symlink(self.etl + ".names", self.etl + ".names")
        result = run_tool("report", self.etl)
        self.assertEqual(result.returncode, 1)
        self.assertIn("--names FILE takes other names, /dev/null none", result.stderr)
        self.assertEqual(run_tool("report", "--names", "/dev/null", self.etl).returncode, 0)

    def test_lock_at_the_address_of_a_lock_class_key_is_named(self):
        with open(self.etl, "wb") as stream:
            stream.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0), self.spin_event()))
        for names, expected in (("__key.2", "my_mutex"), "my_mutex"), (("__key",), "__key"), \
                (("__keys", "my_mutex"), "__keys"):
            with open(self.etl + ".names", "w", encoding="utf-8") as stream:
                for name in names:
                    stream.write("ffffffff82000030 b %s\n" % name)
            (row,) = json.loads(run_tool("report", "--json", self.etl).stdout)["locks"]
            self.assertEqual(row["lock"], expected)

    def test_thread_of_ready_thread_event_is_named(self):
        self.log_buffers(2, etl.buffer([etl.perfinfo(0x0532, etl.ready_thread_data(56))]))
        result = self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("thread 56 unused", self.read_names_file())

    def test_stop_writes_names_of_processes_and_cgroups(self):
        self.write_proc("56/status", "Name:\tunused\nTgid:\t55\nPid:\t56\n")
        self.write_proc("56/cgroup", "1:name=systemd:/old\n0::/a\tb.slice (deleted)\n")
        self.write_proc("55/status", "Name:\tworker\nTgid:\t55\nPid:\t55\n")
        self.log_buffers(2, etl.buffer([self.spin_event(thread=56)]))
        result = self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(line for line in self.read_names_file()
                                if line.startswith("thread")),
                         ["thread 55 worker\t55", "thread 56 unused\t55\t/a?b.slice"])
        (row,) = json.loads(run_tool("report", "--json", "--filter", "process == worker",
                                     self.etl).stdout)["locks"]
        self.assertEqual(row["lock"], "the_lock+0x30")

    def test_process_and_cgroup_of_a_task_with_an_empty_name_are_written(self):
        """Neither the present name nor the one in the module's note has a character."""
        T = etl.START_CLOCK
        self.write_proc("55/comm", "\n")
        self.write_proc("55/status", "Name:\t\nTgid:\t55\n")
        self.write_proc("55/cgroup", "0::/a\n")
        with open(os.path.join(self.directory, "tasks"), "w") as stream:
            stream.write("57 57 %d \t/b\n" % (T + 5))
        self.log_buffers(2, etl.buffer([self.spin_event(thread=thread) for thread in (55, 57)]))
        result = self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("have no name", result.stderr)
        self.assertEqual(sorted(line for line in self.read_names_file()
                                if line.startswith("thread")),
                         ["thread 55 \t55\t/a", "thread 57 \t57\t/b"])
        for expression in "process == 55", "cgroup == /b":
            (row,) = json.loads(run_tool("report", "--json", "--filter", expression,
                                         self.etl).stdout)["locks"]
            self.assertEqual(row["acquisitions"], 1)
        for subject in "thread", "process":
            self.assertIn("no %s is called" % subject,
                          run_tool("report", "--filter", subject + ' == ""', self.etl).stderr)

    def test_tasks_that_have_ended_or_called_exec_are_named(self):
        """The module's notes also tell a task's name before exec."""
        T = etl.START_CLOCK
        with open(os.path.join(self.directory, "tasks"), "w") as stream:
            stream.write("57 57 %d sh\t/a b.scope\n57 57 %d x\x1by\t-\n" % (T + 5, T + 90) +
                         "58 57 %d other\t/a b.scope\n99 99 %d unused\t/\n" % (T + 8, T + 9) +
                         "55 55 %d old\t/\n" % (T + 6) + "lost 3 long 1\n")
        self.log_buffers(2, etl.buffer([self.spin_event(thread=thread) for thread in (58, 55, 60)]))
        result = self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(line for line in self.read_names_file()
                                if line.startswith("thread")), [
            "thread 55 old\t55\t/", "thread 55@%d worker\t55" % (T + 6),
            "thread 57 sh\t57\t/a b.scope", "thread 57@%d x?y\t57" % (T + 5),
            "thread 58 other\t57\t/a b.scope"])
        for words in ("3 notes about tasks that ended were overwritten",
                      "1 tasks that ended were in a cgroup whose path is too long",
                      "1 tasks of the trace have no name"):
            self.assertIn(words, result.stderr)
        for expression in 'process == "x?y"', 'cgroup == "/a b.scope"', "process == 57":
            (row,) = json.loads(run_tool("report", "--json", "--filter", expression,
                                         self.etl).stdout)["locks"]
            self.assertEqual(row["acquisitions"], 1)

    def test_names_of_stacks_are_written(self):
        self.log_buffers(2, etl.buffer([etl.perfinfo(0x1820, struct.pack(
            "<QIIQQ", 0, 0, 55, 0xffffffff81300004, 0xffffffff81400000))]))
        self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(self.read_names_file(), [
            "ffffffff81300000 T unused", "ffffffff81400000 T unused_too",
            "ffffffff82000000 B the_lock", "thread 55 worker"])

    def test_names_have_the_functions_of_callers(self):
        self.log_buffers(2, etl.buffer([etl.caller_event(0xffffffff82000030, 0xffffffff81300004)]))
        self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(self.read_names_file(), ["ffffffff81300000 T unused",
                                                  "ffffffff81400000 T unused_too"])

    def test_call_at_the_end_of_a_function_is_named_after_it(self):
        """The return address is the start of the next function, which has called nothing."""
        self.log_buffers(2, etl.buffer([self.spin_event(spins=1),
                                etl.stack_event(etl.START_CLOCK + etl.PERF_FREQ,
                                                [0xffffffff81400000])]))
        self.run_tool("stop", "2", "-o", self.etl)
        folded = run_tool("report", "--folded", self.etl).stdout
        self.assertTrue(folded.startswith("unused "), folded)

    def test_no_names_option_writes_no_file(self):
        self.log_buffers(2, etl.buffer([self.spin_event()]))
        self.log_buffers(7, etl.buffer([self.spin_event()]))
        for arguments in (("stop", "2"), ("record", "--duration", ".1")):
            result = self.run_tool(*arguments, "--no-names", "-o", self.etl)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertFalse(os.path.exists(self.etl + ".names"))

    def test_names_of_another_file_are_kept_if_there_is_none(self):
        os.mkdir(self.etl)
        with open(self.etl + ".names", "w") as stream:
            stream.write("thread 1 of_another\n")
        self.log_buffers(7, etl.buffer([self.spin_event()]))
        for arguments in (("stop", "7"), ("record", "--duration", ".1")):
            result = self.run_tool(*arguments, "-o", self.etl)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(self.read_names_file(), ["thread 1 of_another"])

    def start_recording(self, *arguments):
        process = self.start_tool("record", "-o", self.etl, *arguments)
        self.wait_for(lambda: "started" in self.read_session_file(7, "state"))
        return process

    def test_recordings_name_modules_and_threads_that_come_and_go(self):
        process = self.start_recording_with_names()
        self.assertEqual(sorted(self.read_names_file()), sorted(self.EXPECTED))
        # The module and the thread do not exist any more at the end of the recording.
        self.write_proc("kallsyms", KALLSYMS + MODULE)
        self.write_proc("modules", "new 16384 1 - Live 0xffffffffc0100000\n"
                        "old 16384 1 - Live 0xffffffffc0000000\n")
        os.mkdir(os.path.join(self.proc, "57"))
        self.write_proc("57/comm", "young\n")
        self.append_events(self.spin_event(address=0xffffffffc0100048, thread=57))
        self.wait_for(lambda: "thread 57 young" in self.read_names_file())
        self.write_proc("57/comm", "its name\n")
        self.wait_for(lambda: "thread 57 its name" in self.read_names_file())
        self.write_proc("kallsyms", KALLSYMS)
        self.write_proc("modules", "old 16384 1 - Live 0xffffffffc0000000\n")
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn("ffffffffc0100040 d new_lock\t[new]", self.read_names_file())
        self.assertNotIn("unused", "".join(self.read_names_file()))
        locks = json.loads(run_tool("report", "--json", self.etl).stdout)["locks"]
        self.assertEqual(sorted(row["lock"] for row in locks),
                         ["new_lock+0x8 [new]", "the_lock+0x30"])

    def start_recording_with_names(self):
        self.log_buffers(7, etl.buffer([self.spin_event()]))
        process = self.start_recording()
        self.wait_for(lambda: os.path.exists(self.etl + ".names") and
                      "thread 55 worker" in self.read_names_file())
        return process

    def end_and_read_locks(self, process):
        process.terminate()
        process.communicate()
        locks = json.loads(run_tool("report", "--json", self.etl).stdout)["locks"]
        return sorted(row["lock"] for row in locks)

    def test_unloaded_module_keeps_its_symbols_when_another_one_is_loaded(self):
        process = self.start_recording_with_names()
        self.write_proc("kallsyms", KALLSYMS.replace(OLD, MODULE))
        self.write_proc("modules", "new 16384 1 - Live 0xffffffffc0100000\n")
        self.append_events(self.spin_event(address=0xffffffffc0000008),
                           self.spin_event(address=0xffffffffc0100048))
        self.assertEqual(self.end_and_read_locks(process),
                         ["new_lock+0x8 [new]", "the_lock+0x30", "unused_code+0x8 [old]"])

    def test_unloaded_module_keeps_its_symbols_behind_a_module_that_stays(self):
        keeper = "ffffffffbffff000 t code\t[keeper]\n"
        modules = "keeper 4096 1 - Live 0xffffffffbffff000\n"
        self.write_proc("kallsyms", KALLSYMS + keeper + "ffffffffc0000040 d data\t[old]\n")
        self.write_proc("modules", modules + "old 16384 1 - Live 0xffffffffc0000000\n")
        process = self.start_recording_with_names()
        self.write_proc("kallsyms", KALLSYMS.replace(OLD, keeper + MODULE))
        self.write_proc("modules", modules + "new 16384 1 - Live 0xffffffffc0100000\n")
        self.append_events(self.spin_event(address=0xffffffffc0000008),
                           self.spin_event(address=0xffffffffc0000048),
                           self.spin_event(address=0xffffffffbffff008))
        self.assertEqual(self.end_and_read_locks(process), [
            "code+0x8 [keeper]", "data+0x8 [old]", "the_lock+0x30", "unused_code+0x8 [old]"])

    def test_module_at_the_address_of_an_unloaded_one_has_its_own_symbols(self):
        process = self.start_recording_with_names()
        self.write_proc("kallsyms", KALLSYMS.replace(OLD, "ffffffffbffff000 t before\t[new]\n"
                                                     "ffffffffc0000010 t code\t[new]\n"))
        self.write_proc("modules", "new 16384 1 - Live 0xffffffffbffff000\n")
        self.append_events(self.spin_event(address=0xffffffffc0000008),
                           self.spin_event(address=0xffffffffc0000018))
        self.assertEqual(self.end_and_read_locks(process),
                         ["before+0x1008 [new]", "code+0x8 [new]", "the_lock+0x30"])

    def test_module_that_is_loaded_again_has_the_symbols_of_its_new_build(self):
        process = self.start_recording_with_names()
        self.write_proc("modules", "")
        os.mkdir(os.path.join(self.proc, "57"))
        self.write_proc("57/comm", "young\n")
        self.append_events(self.spin_event(address=0xffffffff82000030, thread=57))
        self.wait_for(lambda: "thread 57 young" in self.read_names_file())
        self.write_proc("kallsyms", KALLSYMS.replace("unused_code", "new_code"))
        self.write_proc("modules", "old 16384 1 - Live 0xffffffffc0000000\n")
        self.append_events(self.spin_event(address=0xffffffffc0000008))
        self.assertEqual(self.end_and_read_locks(process), ["new_code+0x8 [old]", "the_lock+0x30"])

    def test_last_symbol_of_a_region_ends_with_the_next_page(self):
        """A lock further on is one of a module that was gone before its symbols were read."""
        self.write_proc("modules", "new 20480 1 - Live 0xffffffffc0100000\n")
        self.write_proc("kallsyms", KALLSYMS +
                        "ffffffffc0100000 t code\t[new]\n"
                        "ffffffffc0108040 d first_lock\t[new]\n"
                        "ffffffffc0109080 b last_lock\t[new]\n")
        self.log_buffers(2, etl.buffer([self.spin_event(address=address) for address in (
            0xffffffffc0101ff8, 0xffffffffc0102000, 0xffffffffc0109078, 0xffffffffc010aff8,
            0xffffffffc010b000)]))
        result = self.run_tool("stop", "2", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        locks = json.loads(run_tool("report", "--json", self.etl).stdout)["locks"]
        self.assertEqual(sorted(row["lock"] for row in locks), [
            "0xffffffffc0102000", "0xffffffffc010b000", "code+0x1ff8 [new]",
            "first_lock+0x1038 [new]", "last_lock+0x1f78 [new]"])

    def test_recording_that_ends_at_once_names_a_new_module(self):
        process = self.start_recording_with_names()
        # The last update of the names was less than a second ago.
        self.write_proc("kallsyms", KALLSYMS + MODULE)
        self.write_proc("modules", "new 16384 1 - Live 0xffffffffc0100000\n"
                        "old 16384 1 - Live 0xffffffffc0000000\n")
        self.append_events(self.spin_event(address=0xffffffffc0100048))
        process.terminate()
        process.communicate()
        self.assertIn("ffffffffc0100040 d new_lock\t[new]", self.read_names_file())

    def write_trace_without_names(self, boot_age=0):
        """The trace is of the present boot, or of one BOOT_AGE seconds earlier."""
        boot = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)
        with open(self.etl, "wb") as stream:
            stream.write(etl.header_buffer(2, boot_time=116444736000000000 +
                                           int((boot - boot_age) * 1e7)) +
                         etl.buffer([self.spin_event()]))

    def test_names_are_written_for_a_file_without_them(self):
        self.write_trace_without_names()
        for number in range(2):
            result = self.run_tool("names", self.etl)
            self.assertEqual(result.returncode, number, result.stderr)
            self.assertEqual(sorted(self.read_names_file()), sorted(self.EXPECTED))
        self.assertIn("a.etl.names: there are names already", result.stderr)
        self.assertEqual(os.stat(self.etl + ".names").st_mode & 0o777, 0o600)

    def test_names_of_another_boot_are_not_written(self):
        self.write_trace_without_names(boot_age=60)
        result = self.run_tool("names", self.etl)
        self.assertEqual(result.returncode, 1)
        self.assertIn("a.etl: names are of this boot, the file is of another one", result.stderr)
        self.assertFalse(os.path.exists(self.etl + ".names"))


if __name__ == "__main__":
    tap.main()
