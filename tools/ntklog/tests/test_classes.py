#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Classes of locks, from the types of a kernel that make_types invents, and from invented notes.

Usage: test_classes.py NTKLOG FAKE_MODULE MAKE_TYPES
"""

import json
import os
import subprocess
import sys
import time

import etl_writer as etl
import perfetto_decoder
import tap
from module import STATS, Directory
from tool import run_tool

MAKE_TYPES = sys.argv[3]

# Kinds, as <ntklog/identity.h> has them.
SPIN, RW, MUTEX, RWSEM = 1, 2, 3, 4

KALLSYMS = "ffffffff81000000 T _text\nffffffff82001000 B _end\n"
BOOT = "11111111-2222-3333-4444-555555555555"

LOCK = 0xffff888000001000


def slab_note(kind, offset, size, object_size, cache, caller="some_function+0x10/0x40", lock=LOCK,
              clock=1000):
    return "0x%x %d %d slab 0xffff888100000000 %d %d %d %s by %s\n" % (
        lock, kind, clock, offset, size, object_size, cache, caller)


def note_outside_slabs(kind, what, caller="some_function+0x10/0x40", lock=LOCK, clock=1000):
    return "0x%x %d %d %s by %s\n" % (lock, kind, clock, what, caller)


class Base(Directory):
    """A stopped session, and files from which the tool knows the kernel's types."""

    def setUp(self):
        super().setUp()
        for name in ("proc/sys/kernel/random", "sys/btf", "sys/slab"):
            os.makedirs(os.path.join(self.directory, name))
        subprocess.run([MAKE_TYPES, os.path.join(self.directory, "sys/btf")], check=True)
        self.write_file("proc/kallsyms", KALLSYMS)
        self.write_file("proc/modules", "")
        self.write_file("proc/sys/kernel/random/boot_id", BOOT + "\n")
        self.etl = os.path.join(self.directory, "a.etl")
        self.ENVIRONMENT = {"NTKLOG_PROC": os.path.join(self.directory, "proc"),
                            "NTKLOG_SYS": os.path.join(self.directory, "sys")}

    def make_cache_aliases(self, cache, *names):
        for name in names:
            os.symlink(cache, os.path.join(self.directory, "sys/slab", name))

    def log_events(self, *events):
        self.write_session(0, etl.header_buffer(2), etl.buffer(events))

    def stop_and_read_names(self, *notes, events=None):
        """Return the lines about locks in FILE.names, and the tool's standard error."""
        addresses = sorted({int(note.split()[0], 16) for note in notes
                            if note.startswith("0x")} or {LOCK})
        self.log_events(*(events or [etl.perfinfo(0x0529, etl.spin_lock(address=address))
                                     for address in addresses]))
        self.write_file("identities", "".join(notes))
        result = self.run_tool("stop", "0", "-o", self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.etl + ".names", encoding="utf-8") as stream:
            return [line for line in stream.read().splitlines() if line.startswith("lock ")], \
                result.stderr

    def class_name_of(self, note):
        lines, _ = self.stop_and_read_names(note)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("lock 0x%x " % LOCK), lines)
        return lines[0].split(" ", 2)[2]


class Rules(Base):
    def test_lock_in_a_cache_is_named_by_the_structure_of_the_caches_name(self):
        self.assertEqual(self.class_name_of(slab_note(SPIN, 2 * 192 + 64, 192, 192, "dentry")),
                         "dentry.d_lockref.lock")

    def test_offset_without_a_lock_of_the_kind_is_named_by_the_offset(self):
        for kind, offset in (SPIN, 60), (SPIN, 68), (MUTEX, 64), (RW, 64):
            self.assertEqual(self.class_name_of(slab_note(kind, offset, 192, 192, "dentry")),
                             "dentry+0x%x" % offset)

    def test_cache_of_another_size_than_the_structure_is_named_by_the_offset(self):
        self.assertEqual(self.class_name_of(slab_note(SPIN, 0, 64, 64, "short_one_cache")),
                         "short_one.lock")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 0, 256, 256, "short_one_cache")),
                         "short_one_cache+0x0")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 0, 56, 56, "short_one_cache")),
                         "short_one_cache+0x0")

    def test_structures_of_another_allocated_size_are_found(self):
        self.assertEqual(self.class_name_of(slab_note(SPIN, 40, 6208, 6200, "task_struct")),
                         "task_struct.alloc_lock")
        self.assertEqual(self.class_name_of(slab_note(RWSEM, 40, 1408, 1360, "mm_struct")),
                         "mm_struct.mmap_lock")

    def test_red_zone_before_an_object_is_skipped(self):
        """With slab_debug=Z there are bytes before each object."""
        os.mkdir(os.path.join(self.directory, "sys/slab/dentry"))
        self.write_file("sys/slab/dentry/red_zone", "1\n")
        self.write_file("sys/slab/dentry/align", "64\n")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 3 * 320 + 64 + 64, 320, 192, "dentry")),
                         "dentry.d_lockref.lock")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 3 * 320 + 20, 320, 192, "dentry")),
                         "slab (some_function)")
        lines, _ = self.stop_and_read_names(*(slab_note(SPIN, 20, 320, 192, "dentry",
                                                        caller + "+0x10/0x40",
                                                        LOCK + 0x1000 * i)
                                              for i, caller in enumerate(("one", "other"))))
        self.assertEqual([line.split(" ", 2)[2] for line in lines],
                         ["slab (one)", "slab (other)"])
        self.write_file("sys/slab/dentry/red_zone", "0\n")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 64, 320, 192, "dentry")),
                         "dentry.d_lockref.lock")

    def test_elements_of_an_array_have_one_class(self):
        for element in range(4):
            self.assertEqual(self.class_name_of(slab_note(SPIN, 16 + 4 * element, 64, 64,
                                                          "signal_cache")),
                             "signal_struct.queues[]")

    def test_cache_name_of_another_suffix_finds_the_structure(self):
        self.assertEqual(self.class_name_of(slab_note(RW, 48, 64, 64, "signal_cache")),
                         "signal_struct.rw")

    def test_lock_in_an_embedded_structure_is_named_by_that_structure(self):
        self.assertEqual(self.class_name_of(slab_note(RWSEM, 300, 1024, 1000, "ext4_inode_cache")),
                         "inode.i_rwsem (ext4_inode_cache)")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 324, 1024, 1000, "ext4_inode_cache")),
                         "inode.i_rwsem.wait_lock (ext4_inode_cache)")
        self.assertEqual(self.class_name_of(slab_note(MUTEX, 900, 1024, 1000, "ext4_inode_cache")),
                         "ext4_inode_info.i_tail")

    def test_merged_cache_is_identified_by_the_lock(self):
        self.make_cache_aliases(":0000128", "first_one", "second_one")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 8, 128, 128, "first_one")),
                         "first_one.lock")
        self.assertEqual(self.class_name_of(slab_note(MUTEX, 64, 128, 128, "first_one")),
                         "second_one.mutex")
        # Both structures have a spin lock at this offset.
        self.assertEqual(self.class_name_of(slab_note(SPIN, 32, 128, 128, "first_one")),
                         "first_one+0x20")

    def test_cache_merged_with_an_unknown_one_is_marked_as_uncertain(self):
        self.make_cache_aliases(":0000128", "first_one", "nobody_knows")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 8, 128, 128, "first_one")),
                         "~first_one.lock")

    def test_name_is_certain_if_no_cache_is_merged(self):
        """With slab_nomerge each cache has a directory of its own, and no link exists."""
        os.mkdir(os.path.join(self.directory, "sys/slab/dentry"))
        self.assertEqual(self.class_name_of(slab_note(SPIN, 64, 192, 192, "dentry")),
                         "dentry.d_lockref.lock")

    def test_name_without_a_list_of_merged_caches_is_uncertain(self):
        os.rmdir(os.path.join(self.directory, "sys/slab"))
        self.assertEqual(self.class_name_of(slab_note(SPIN, 64, 192, 192, "dentry")),
                         "~dentry.d_lockref.lock")

    def test_kmalloc_object_is_identified_by_its_function(self):
        # The type comes from the function, from the table of known functions, or is not known.
        self.assertEqual(self.class_name_of(slab_note(SPIN, 16, 192, 192, "kmalloc-192",
                                                      "use_thing+0x10/0x40")),
                         "~unknown_thing.lock")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 16, 192, 192, "kmalloc-cg-192")),
                         "~worker_pool.lock")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 24, 192, 192, "kmalloc-192")),
                         "kmalloc-192+0x18 (some_function)")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 16, 192, 192, "memdup_user-192",
                                                      "use_thing.isra.0+0x10/0x40")),
                         "~unknown_thing.lock")

    def test_kmalloc_object_is_larger_than_the_next_smaller_cache(self):
        self.assertEqual(self.class_name_of(slab_note(SPIN, 4, 32, 32, "kmalloc-32",
                                                      "use_small+0x1/0x4")),
                         "~small_thing.lock")
        self.assertEqual(self.class_name_of(slab_note(SPIN, 4, 64, 64, "kmalloc-64",
                                                      "use_small+0x1/0x4")),
                         "kmalloc-64+0x4 (use_small)")

    def test_kmalloc_object_of_a_module_is_identified_by_its_types(self):
        self.assertEqual(self.class_name_of(slab_note(MUTEX, 32, 512, 512, "kmalloc-512",
                                                      "driver_init+0x10/0x40 [driver]")),
                         "~driver_state.mutex")
        # The module has no types, and none of the kernel's types fits.
        self.assertEqual(self.class_name_of(slab_note(MUTEX, 32, 512, 512, "kmalloc-512",
                                                      "stranger+0x10/0x40 [stranger]")),
                         "kmalloc-512+0x20 (stranger)")

    def test_lock_outside_of_slabs_has_the_kind_of_memory(self):
        for kind, what, expected in (
                (SPIN, "percpu 384", "runqueues[].__lock"),
                (SPIN, "percpu runqueues+0x80/0x100", "runqueues[].__lock"),
                (SPIN, "percpu 4", "per-CPU (some_function)"),
                (SPIN, "percpu 1048576", "pages (some_function)"),
                (SPIN, "percpu jiffies_lock+0x0/0x40", "per-CPU (some_function)"),
                (SPIN, "page 40", "ptdesc.ptl"),
                (SPIN, "page 44", "page (some_function)"),
                (SPIN, "node 272", "pglist_data.zones[].lock"),
                (SPIN, "lists 0", "per_cpu_pages[].lock"),
                (SPIN, "symbol rcu_state+0x40/0x80", "rcu_state.lock"),
                (SPIN, "symbol rcu_state+0x40/0x200", "rcu_state+0x40"),
                (SPIN, "symbol bit_wait_table+0x30/0x1800", "bit_wait_table[].lock"),
                (SPIN, "symbol bit_wait_table+0x34/0x1800", "bit_wait_table+0x34"),
                (SPIN, "symbol bit_wait_table+0x30/0x1808", "bit_wait_table+0x30"),
                (SPIN, "symbol init_task+0x28/0x2340", "init_task.alloc_lock"),
                (RW, "symbol tasklist_lock+0x0/0x40", "tasklist_lock"),
                (MUTEX, "symbol my_mutex+0x0/0x40 [driver]", "my_mutex [driver]"),
                (SPIN, "stack", "stack (some_function)"),
                (SPIN, "vmalloc", "vmalloc (some_function)"),
                (SPIN, "pages", "pages (some_function)"),
                (SPIN, "kfence", "kfence (some_function)")):
            self.assertEqual(self.class_name_of(note_outside_slabs(kind, what)), expected, what)

    def test_lock_class_key_without_bytes_gives_no_name(self):
        for name in "__key", "__key.2":
            lines, _ = self.stop_and_read_names(
                note_outside_slabs(MUTEX, "symbol %s+0x0/0x20 [driver]" % name))
            self.assertEqual(lines, [])

    def test_hidden_caller_is_left_out_of_the_class_name(self):
        self.assertEqual(self.class_name_of(note_outside_slabs(SPIN, "stack", "-")), "stack")

    def test_cache_without_a_name_is_named_by_its_allocator(self):
        self.assertEqual(self.class_name_of(slab_note(SPIN, 64, 0, 0, "-")), "slab (some_function)")

    def test_locks_with_different_callers_in_caches_without_a_name_are_of_different_classes(self):
        callers = ["one", "other", "f" * 60 + "1", "f" * 60 + "2"]
        lines, _ = self.stop_and_read_names(*(slab_note(SPIN, 64, 192, 192, "-",
                                                        caller + "+0x10/0x40",
                                                        LOCK + 0x1000 * i)
                                              for i, caller in enumerate(callers)))
        self.assertEqual([line.split(" ", 2)[2] for line in lines],
                         ["slab (%s)" % caller for caller in callers])


class Files(Base):
    def test_names_file_has_only_locks_of_the_trace(self):
        lines, _ = self.stop_and_read_names(
            slab_note(SPIN, 64, 192, 192, "dentry"),
            slab_note(SPIN, 64, 192, 192, "dentry", lock=0xffff888000002000),
            events=[etl.perfinfo(0x0529, etl.spin_lock(address=LOCK))])
        self.assertEqual(lines, ["lock 0x%x dentry.d_lockref.lock" % LOCK])

    def test_malformed_lines_of_identities_are_ignored(self):
        lines, _ = self.stop_and_read_names("nonsense\n", "0x12 99 5 slab\n",
                                            "0x%x 1 5 slab 0x1 by -\n" % LOCK,
                                            "0x%x 0 5 stack by -\n" % LOCK, "\n",
                                            "0x%x 1 5 symbol - by -\n" % LOCK)
        self.assertEqual(lines, [])

    def test_line_of_a_lock_with_long_names_is_cut(self):
        lines, _ = self.stop_and_read_names(slab_note(SPIN, 64, 192, 192, "c" * 5000, "f" * 5000))
        self.assertEqual(len(lines), 1)
        self.assertLess(len(lines[0]), 400)

    def test_module_without_notes_gives_no_classes(self):
        self.log_events(etl.perfinfo(0x0529, etl.spin_lock(address=LOCK)))
        result = self.run_tool("stop", "0", "-o", self.etl)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("classes", result.stderr)

    def test_corrupt_types_give_the_offset(self):
        note = slab_note(SPIN, 64, 192, 192, "dentry")
        path = os.path.join(self.directory, "sys/btf/vmlinux")
        with open(path, "rb") as stream:
            whole = stream.read()
        for data in b"", b"\x9f\xeb", whole[:100], whole[:len(whole) // 2], b"x" * 5000, \
                whole[:30] + b"\xff" * 200 + whole[230:]:
            with open(path, "wb") as stream:
                stream.write(data)
            lines, errors = self.stop_and_read_names(note)
            self.assertEqual(lines, ["lock 0x%x dentry+0x40" % LOCK])
            self.assertEqual(errors.count("btf/vmlinux: "), 1, errors)

    def test_changed_byte_of_types_does_not_crash(self):
        path = os.path.join(self.directory, "sys/btf/vmlinux")
        with open(path, "rb") as stream:
            whole = stream.read()
        for at in range(24, len(whole), 97):
            with open(path, "wb") as stream:
                stream.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
            lines, _ = self.stop_and_read_names(slab_note(SPIN, 64, 192, 192, "dentry"))
            self.assertEqual(len(lines), 1)

    def test_structure_of_the_kernel_is_found_before_those_of_modules(self):
        """The types of the second module make the index of names grow with those of the first."""
        subprocess.run([MAKE_TYPES, os.path.join(self.directory, "sys/btf"), "one", "other"],
                       check=True)
        self.assertEqual(self.class_name_of(slab_note(SPIN, 0, 64, 64, "repeated_1002")),
                         "repeated_1002.of_kernel")

    def test_corrupt_types_of_a_module_leave_the_allocator_as_name(self):
        self.write_file("sys/btf/driver", "nonsense")
        lines, errors = self.stop_and_read_names(slab_note(MUTEX, 32, 512, 512, "kmalloc-512",
                                                           "driver_init+0x10/0x40 [driver]"))
        self.assertEqual(lines, ["lock 0x%x kmalloc-512+0x20 (driver_init)" % LOCK])
        self.assertEqual(errors.count("btf/driver: "), 1, errors)

    def test_names_of_another_boot_are_refused(self):
        self.stop_and_read_names(slab_note(SPIN, 64, 192, 192, "dentry"))
        with open(self.etl + ".names", encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        boot = [line for line in lines if line.startswith("boot ")]
        self.assertEqual(len(boot), 1)
        self.assertTrue(boot[0].startswith("boot %s " % BOOT))
        self.assertEqual(run_tool("report", self.etl).returncode, 0)
        self.write_file("a.etl.names",
                        "\n".join(lines).replace(boot[0], "boot %s 1234567" % BOOT) + "\n")
        result = run_tool("report", self.etl)
        self.assertEqual(result.returncode, 1)
        self.assertIn("names of another boot (%s)" % BOOT, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(run_tool("report", "--names", "/dev/null", self.etl).returncode, 0)

    def test_wrong_lines_of_names_are_refused(self):
        self.stop_and_read_names(slab_note(SPIN, 64, 192, 192, "dentry"))
        for line in "lock", "lock 0x12", "lock 0x12 ", "lock 0x12@ x", "lock x y", "lock 0x12@y z", \
                "boot x", "boot %s" % BOOT, "boot %s x" % BOOT, "boot %s 1 2" % BOOT, \
                "lock 0x12@99999999999999999999999 z":
            self.write_file("a.etl.names", "thread 1 a\n" + line + "\n")
            result = run_tool("report", self.etl)
            self.assertEqual(result.returncode, 1, line)
            self.assertIn("a.etl.names: line 2 is neither", result.stderr)

    def test_lock_among_a_million_has_its_class(self):
        self.log_events(etl.perfinfo(0x0529, etl.spin_lock(address=LOCK)))
        self.stop_and_read_names(slab_note(SPIN, 64, 192, 192, "dentry"))
        with open(self.etl + ".names", "w", encoding="utf-8") as stream:
            for i in range(1000000):
                stream.write("%016x T function_%d\n" % (0xffffffff81000000 + 16 * i, i))
            for i in range(1000000):
                stream.write("lock 0x%x class_%d\n" % (LOCK + 8 * i, i % 100))
        start = time.monotonic()
        rows = json.loads(run_tool("report", "--json", self.etl).stdout)["locks"]
        print("# 2,000,000 names: %.1f s" % (time.monotonic() - start))
        self.assertEqual([row["lock"] for row in rows], ["class_0"])


class Recording(Base):
    def test_lock_of_a_module_is_named_by_the_types_that_were_read_since(self):
        """The first note comes before the update in which the tool reads the module's types."""
        types = os.path.join(self.directory, "sys/btf/driver")
        os.rename(types, os.path.join(self.directory, "driver"))
        locks = [LOCK + 0x1000 * i for i in range(2)]
        notes = [slab_note(MUTEX, 32, 512, 512, "kmalloc-512", "driver_init+0x10/0x40 [driver]",
                           lock)
                 for lock in locks]
        event = [etl.perfinfo(0x0529, etl.spin_lock(address=lock)) for lock in locks]
        self.write_file("identities", notes[0])
        self.write_session(7, etl.header_buffer(2), etl.buffer([event[0]]))
        self.write_session_file(7, "stats", STATS % 0)
        process = self.start_tool("record", "-o", self.etl)
        self.wait_for(lambda: os.path.exists(self.etl + ".names") and
                      "lock 0x%x" % LOCK in self.read_file("a.etl.names"))
        os.rename(os.path.join(self.directory, "driver"), types)
        self.write_file("proc/modules", "driver 16384 1 - Live 0xffffffffc0000000\n")
        os.mkdir(os.path.join(self.directory, "proc/57"))
        self.write_file("proc/57/comm", "young\n")
        self.append_events(etl.perfinfo(0x0529, etl.spin_lock(address=LOCK, thread=57)))
        self.wait_for(lambda: "thread 57 young" in self.read_file("a.etl.names"))
        with open(os.path.join(self.directory, "identities"), "a") as stream:
            stream.write(notes[1])
        self.append_events(event[1])
        self.wait_for(lambda: "lock 0x%x" % locks[1] in self.read_file("a.etl.names"))
        process.terminate()
        process.communicate()
        self.assertEqual([line for line in self.read_file("a.etl.names").splitlines()
                          if "lock " in line],
                         ["lock 0x%x kmalloc-512+0x20 (driver_init)" % locks[0],
                          "lock 0x%x ~driver_state.mutex" % locks[1]])


class Reports(Base):
    CLOCK = etl.START_CLOCK + etl.PERF_FREQ
    LOCKS = [LOCK, LOCK + 0x1000, LOCK + 0x2000]

    def setUp(self):
        super().setUp()
        # The memory of the second lock was used for something else later.
        self.stop_and_read_names(*(slab_note(SPIN, 64, 192, 192, "dentry", lock=lock)
                                   for lock in self.LOCKS),
                                 events=[etl.perfinfo(0x0529, etl.spin_lock(address=lock),
                                                      time_stamp=self.CLOCK + i)
                                         for i, lock in enumerate(self.LOCKS + self.LOCKS)])
        with open(self.etl + ".names", "a", encoding="utf-8") as stream:
            stream.write("lock 0x%x@%d inode.i_lock\n" %
                         (self.LOCKS[1], self.CLOCK + 4))

    def rows_by_lock(self, *options):
        result = run_tool("report", "--json", *options, self.etl)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {row["lock"]: (row["sampled"], row["locks"])
                for row in json.loads(result.stdout)["locks"]}

    def test_report_sums_by_class(self):
        self.assertEqual(self.rows_by_lock(),
                         {"dentry.d_lockref.lock": (5, 3), "inode.i_lock": (1, 1)})
        text = run_tool("report", "--table", "locks", self.etl).stdout
        self.assertIn(" locks ", text)

    def test_only_locks_of_selected_records_are_counted(self):
        self.assertEqual(self.rows_by_lock("--filter", "lock != 0x%x" % self.LOCKS[0]),
                         {"dentry.d_lockref.lock": (3, 2), "inode.i_lock": (1, 1)})

    def test_addresses_option_shows_each_lock_by_itself(self):
        result = run_tool("report", "--json", "--addresses", self.etl)
        rows = json.loads(result.stdout)["locks"]
        self.assertEqual({row["lock"]: row["sampled"] for row in rows},
                         {"0x%x dentry.d_lockref.lock" % self.LOCKS[0]: 2,
                          "0x%x inode.i_lock" % self.LOCKS[1]: 2,
                          "0x%x dentry.d_lockref.lock" % self.LOCKS[2]: 2})

    def test_many_files_show_how_many_locks_a_row_adds_up(self):
        for options, shows in ((), True), (("--addresses",), False):
            text = run_tool("report", "--wide", "--table", "locks", *options, self.etl,
                            self.etl).stdout
            (self.assertRegex if shows else self.assertNotRegex)(text, "\nhost +lock +locks ")

    def test_callers_and_page_show_classes(self):
        callers = json.loads(run_tool("report", "--json", self.etl).stdout)["callers"]
        self.assertEqual({row["lock"] for row in callers},
                         {"dentry.d_lockref.lock", "inode.i_lock"})
        page = os.path.join(self.directory, "page.html")
        self.assertEqual(run_tool("report", "--html", page, self.etl).returncode, 0)
        with open(page, encoding="utf-8") as stream:
            self.assertIn("dentry.d_lockref.lock", stream.read())

    def test_filters_select_classes(self):
        self.assertEqual(self.rows_by_lock("--filter", "class == inode.i_lock"),
                         {"inode.i_lock": (1, 1)})
        self.assertEqual(self.rows_by_lock("--filter", "class ~ dentry"),
                         {"dentry.d_lockref.lock": (5, 3)})
        self.assertEqual(self.rows_by_lock("--filter", "class != inode.i_lock"),
                         {"dentry.d_lockref.lock": (5, 3)})
        result = run_tool("report", "--filter", "class == nothing", self.etl)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no class is called \"nothing\": class ~ takes a part of a name",
                      result.stderr)
        self.assertEqual(run_tool("report", "--filter", "class == inode", self.etl).returncode, 2)
        self.assertEqual(self.rows_by_lock("--filter", "class == INODE.i_lock"),
                         {"inode.i_lock": (1, 1)})
        self.assertEqual(run_tool("report", "--filter", "class > inode.i_lock",
                                  self.etl).returncode, 2)

    def test_filters_of_addresses_take_the_names_that_dump_prints(self):
        with open(self.etl + ".names", "a", encoding="utf-8") as stream:
            stream.write("%x d a_variable\n" % self.LOCKS[0])
        inode, dentry = {"inode.i_lock": (1, 1)}, {"dentry.d_lockref.lock": (5, 3)}
        for field in "lock", "SpinLockAddress", "SpinLockAddressSymbol":
            for condition, expected in (("== inode.i_lock", inode), ("~ dentry", dentry),
                                        ("!= inode.i_lock", dentry), ("~ _lock", {**inode, **dentry}),
                                        ("== a_variable+0x0", {"dentry.d_lockref.lock": (2, 1)}),
                                        ("!= a_variable+0x0",
                                         {**inode, "dentry.d_lockref.lock": (3, 2)})):
                self.assertEqual(self.rows_by_lock("--filter", field + condition), expected,
                                 field + condition)
        for expression, message in (("lock == x", 'no symbol is called "x", and no class of locks'),
                                    ("caller == inode.i_lock", 'no symbol is called "inode.i_lock" (')):
            result = run_tool("report", "--filter", expression, self.etl)
            self.assertEqual(result.returncode, 2)
            self.assertIn(message, result.stderr)

    def test_filters_of_addresses_take_a_class_with_an_offset(self):
        self.stop_and_read_names(slab_note(SPIN, 0x50, 1024, 1024, "kmalloc-1k", "f+0x10/0x40"))
        with open(self.etl, "wb") as stream:
            stream.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(address=LOCK))))
        self.assertEqual(self.rows_by_lock("--filter", 'lock == "kmalloc-1k+0x50 (f)"'),
                         {"kmalloc-1k+0x50 (f)": (1, 1)})

    def test_filters_of_addresses_take_a_class_of_a_cache_with_a_plus_in_its_name(self):
        self.stop_and_read_names(slab_note(SPIN, 0x50, 1024, 1024, "read+write", "f+0x10/0x40"))
        with open(self.etl, "wb") as stream:
            stream.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(address=LOCK))))
        self.assertEqual(self.rows_by_lock("--filter", "lock == read+write+0x50"),
                         {"read+write+0x50": (1, 1)})
        result = run_tool("report", "--filter", "lock == read+write", self.etl)
        self.assertEqual(result.returncode, 2)
        self.assertIn('"write" is no offset, such as 0x10 (character 14)', result.stderr)

    def test_dump_and_conversions_name_classes(self):
        text = run_tool("dump", self.etl).stdout
        self.assertEqual((text.count("dentry.d_lockref.lock"), text.count("inode.i_lock")), (5, 1))
        trace = run_tool("convert", "--perfetto", "-", self.etl, text=False).stdout
        slices = [made["name"] for made in perfetto_decoder.Trace(trace).slices
                  if made["cat"] == "hold"]
        self.assertEqual((slices.count("dentry.d_lockref.lock"), slices.count("inode.i_lock")),
                         (5, 1))


if __name__ == "__main__":
    tap.main()
