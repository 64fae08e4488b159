#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog top --by: which tasks waited, and which held the lock meanwhile."""

import json
import os

from answer_case import BASE, LOCK, NS, sleeping_event, spin_event, stack_event_of
import etl_writer as etl
import tap
from module import STATS
from tool import undescribed_fields
from top_case import TopCase

OTHER_LOCK = LOCK + 0x100

# Thread, process, name, cgroup.
TASKS = ((50, 50, "leader", "/user.slice"), (55, 50, "holder", "/user.slice"),
         (56, 56, "waiter", "/system.slice/web.service"), (58, 56, "other", "/system.slice/web.service"))


class By(TopCase):
    def setUp(self):
        super().setUp()
        self.set_parameter("resource/release_sample_rate", 1)
        self.proc = os.path.join(self.directory, "proc")
        self.ENVIRONMENT = {"NTKLOG_PROC": self.proc}
        for thread, process, name, cgroup in TASKS:
            os.makedirs(os.path.join(self.proc, str(process), "task", str(thread)))
            os.makedirs(os.path.join(self.proc, str(thread)), exist_ok=True)
            self.write_file("proc/%d/comm" % thread, name + "\n")
            self.write_file("proc/%d/status" % thread, "Name:\tx\nTgid:\t%d\n" % process)
            self.write_file("proc/%d/cgroup" % thread, "0::%s\n" % cgroup)
        self.write_file("proc/kallsyms",
                        "ffffffff81000000 T _text\n%x d my_lock\n%x d other_lock\n" %
                        (LOCK, OTHER_LOCK))
        self.write_file("linux", "mutex: off, 9 functions\n")
        self.write_file("proc/modules", "")

    def log_cpus(self, *cpus):
        """Log a buffer with these events for each CPU, in the order of sequence numbers."""
        self.write_session(7, etl.header_buffer(1 + len(cpus)))
        for cpu, events in enumerate(cpus):
            with open(self.session_path(7, "cpu%d" % cpu), "wb") as stream:
                stream.write(etl.buffer(events, sequence=cpu + 1, processor=cpu))
        self.write_session_file(7, "stats", STATS % 0)

    def log_waits(self):
        """Each CPU has both earlier and later events than the other."""
        self.log_cpus((sleeping_event(1000, 5000), sleeping_event(6000, 6100, 1100, thread=58)),
                      (sleeping_event(5000, 6000, 3000, thread=56),
                       sleeping_event(7000, 7100, address=OTHER_LOCK),
                       sleeping_event(7100, 7200, 50, thread=56, address=OTHER_LOCK)))

    def run_top_once(self, *options):
        result = self.run_tool("top", "--once", "-d", ".1", "-e", "linux_mutex", *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    @staticmethod
    def waits_by_waiter(top):
        return {row["waiter"]: (row["waits"], round(row["wait_total_ns"] / NS),
                                round(row["wait_max_ns"] / NS)) for row in top["waiters"]}

    @staticmethod
    def charges_by_holder(top):
        return {(row["lock"], row["waiter"], row["holder"]): round(row["charged_total_ns"] / NS)
                for row in top["blockers"]}

    def test_waits_by_process_are_sums_of_all_locks_and_are_charged_to_holders(self):
        self.log_waits()
        top = json.loads(self.run_top_once("--json", "--by", "process"))
        self.assertEqual(undescribed_fields({**top, "rates": {}}, "report"), set())
        self.assertEqual(self.waits_by_waiter(top), {"56 waiter": (3, 4150, 3000)})
        self.assertEqual(top["waiters"][0]["charged_share"], 1)
        self.assertEqual(self.charges_by_holder(top), {
            ("my_lock", "56 waiter", "50 leader"): 3000 + 100,
            ("my_lock", "56 waiter", "56 waiter"): 1000,
            ("other_lock", "56 waiter", "50 leader"): 50})

    def test_other_attributes_have_the_labels_of_report(self):
        self.log_waits()
        for by, labels in (("thread", {"56 waiter", "58 other"}), ("task", {"waiter", "other"}),
                           ("cgroup", {"/system.slice/web.service"}), ("cpu", {"CPU 0", "CPU 1"}),
                           ("caller", {"waiter", "other"}), ("irql", {"IRQL 0 (passive)"})):
            top = json.loads(self.run_top_once("--json", "--by", by))
            self.assertEqual(set(self.waits_by_waiter(top)), labels, by)
            self.assertEqual(sum(waits for waits, _, _ in self.waits_by_waiter(top).values()), 3)

    def test_stacks_are_joined_with_the_events_of_each_cpu(self):
        """The stack of an event is behind it on its CPU, with events of another CPU between them."""
        outer, holds, waits = range(0xFFFFFFFF81000100, 0xFFFFFFFF81000400, 0x100)
        self.write_file("proc/kallsyms",
                        "ffffffff81000000 T _text\n%x T outer\n%x T holds\n%x T waits\n"
                        "%x d my_lock\n" % (outer, holds, waits, LOCK))
        self.log_cpus((etl.stacks_rundown(4, time_stamp=BASE), sleeping_event(1000, 5000),
                       stack_event_of(5000, holds + 8, outer + 8)),
                      (sleeping_event(5000, 5001, 3000, thread=56),
                       stack_event_of(5001, waits + 8, outer + 8, thread=56)))
        top = json.loads(self.run_top_once("--json", "--by", "stack"))
        self.assertEqual(self.waits_by_waiter(top), {"waits < outer": (1, 3000, 3000)})
        self.assertEqual(self.charges_by_holder(top),
                         {("my_lock", "waits < outer", "holds < outer"): 3000})
        # Other views record no stacks.
        top = json.loads(self.run_top_once("--json", "--by", "task"))
        self.assertEqual(self.waits_by_waiter(top), {"waiter": (1, 3000, 3000)})

    def test_a_full_queue_of_events_waits_for_no_stack(self):
        """The stack of the first event was lost, and its CPU has no later event."""
        events = [sleeping_event(10_000 + 2 * i, 10_001 + 2 * i, address=OTHER_LOCK)
                  for i in range(2000)]
        self.log_cpus((etl.stacks_rundown(4, time_stamp=BASE),
                       sleeping_event(1000, 5000, 7, thread=56)), [])
        with open(self.session_path(7, "cpu1"), "wb") as stream:
            for i in range(0, len(events), 30):
                stream.write(etl.buffer(events[i:i + 30], sequence=2 + i // 30, processor=1))
        top = json.loads(self.run_top_once("--json", "--by", "stack"))
        self.assertEqual([row["wait_total_ns"] for row in top["waiters"]], [7 * NS])

    def test_spin_locks_have_waiters_too(self):
        self.log_cpus([etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0, blockers=1),
                       spin_event(1000, 5000, flags=0),
                       spin_event(5000, 5100, 3000, thread=56, flags=0)])
        self.set_parameter("spinlock/acquire_sample_rate", 1000)
        self.set_parameter("linux_mode", "full")
        self.set_parameter("spinlock/blockers", 1)
        result = self.run_tool("top", "--once", "--json", "-d", ".1", "-e", "spinlock", "--by",
                               "process")
        top = json.loads(result.stdout)
        self.assertEqual(self.waits_by_waiter(top), {"56 waiter": (1, 3000, 3000)})
        self.assertEqual(self.charges_by_holder(top), {("my_lock", "56 waiter", "50 leader"): 3000})

    def test_last_of_two_by_options_is_used(self):
        self.log_waits()
        top = json.loads(self.run_top_once("--json", "--by", "process", "--by", "task"))
        self.assertEqual(set(self.waits_by_waiter(top)), {"waiter", "other"})

    def test_screen_has_waiters_and_blockers_in_place_of_locks(self):
        self.log_waits()
        self.write_held_waits(0x80)
        screen = self.run_top_once("--by", "process")
        self.assertEqual([line.split(",")[0].split(":")[0] for line in screen.splitlines()
                          if ", by " in line], ["Who waited", "Who held the lock"])
        self.assertRegex(screen, r"\nwaiter +waits +wait +share +wait max\n56 waiter +3 +2.08ms +100.0% +1.50ms\n")
        self.assertRegex(screen, r"\nmy_lock +56 waiter +50 leader +2 +1.55ms +")
        self.assertIn("waits for mutex 0x80, held by holder", screen)
        self.assertNotIn("waiters", json.loads(self.run_top_once("--json")))

    def test_rows_are_limited(self):
        self.log_waits()
        screen = self.run_top_once("--by", "thread", "-n", "1")
        self.assertIn("Who waited, by wait_total (1 of 2)\n", screen)

    def test_wait_is_charged_to_a_hold_of_an_earlier_interval(self):
        self.log_cpus([sleeping_event(1000, 5000)])
        out = os.path.join(self.directory, "top.json")
        with open(out, "w") as stream:
            process = self.start_tool("top", "--json", "-d", ".1", "-e", "linux_mutex",
                                      "--by", "process", stdout=stream)
        self.wait_for(lambda: self.read_file("top.json").count("\n") >= 2)
        with open(self.session_path(7, "cpu0"), "ab") as stream:
            stream.write(etl.buffer([sleeping_event(5000, 5100, 3000, thread=56)], sequence=2))
        self.wait_for(lambda: "56 waiter" in self.read_file("top.json"))
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)
        found = [self.charges_by_holder(top)
                 for top in map(json.loads, self.read_file("top.json").splitlines())
                 if top["blockers"]]
        self.assertEqual(found, [{("my_lock", "56 waiter", "50 leader"): 3000}])

    def test_tasks_that_have_ended_or_changed_have_their_names_of_that_time(self):
        """The note says what was true until then; /proc has what is true now."""
        self.write_file("tasks", "56 56 %d before\t/a\n77 70 %d ended\t/a\n70 70 %d first\t/a\n" %
                        (BASE + 5500, BASE + 9000, BASE + 9000))
        self.log_cpus([sleeping_event(5000, 5100, 300, thread=56),
                       sleeping_event(6000, 6100, 200, thread=56),
                       sleeping_event(7000, 7100, 100, thread=77),
                       sleeping_event(8000, 8100, 50, thread=99)])
        top = json.loads(self.run_top_once("--json", "--by", "process"))
        self.assertEqual(self.waits_by_waiter(top),
                         {"56 before": (1, 300, 300), "56 waiter": (1, 200, 200),
                          "70 first": (1, 100, 100), "unknown process": (1, 50, 50)})

    def test_process_and_cgroup_of_a_task_with_an_empty_name_are_known(self):
        """prctl(PR_SET_NAME, "") makes the file comm an empty line."""
        self.write_file("proc/56/comm", "\n")
        self.log_waits()
        for by, label in (("process", "56"), ("cgroup", "/system.slice/web.service")):
            top = json.loads(self.run_top_once("--json", "--by", by))
            self.assertEqual(self.waits_by_waiter(top), {label: (3, 4150, 3000)})
        top = json.loads(self.run_top_once("--json", "--by", "thread"))
        self.assertEqual(set(self.waits_by_waiter(top)), {"56", "58 other"})

    def test_wrong_options_are_refused(self):
        for options, words in ((("--by", "nonsense"),
                                '--by: "nonsense" is not caller, function, task, stack, thread, process, cgroup, cpu or irql'),
                               (("--by", ""), '--by: "" is not'), (("--by",), "requires an argument"),
                               (("--by", "process", "-n", "0"), '-n: "0" is no number of rows')):
            result = self.run_tool("top", *options)
            self.assertEqual(result.returncode, 2, options)
            self.assertIn(words, result.stderr)
        self.assertFalse(os.path.exists(self.session_path(7, "start")))

    def with_repeated_waits(self):
        return self.with_repeated_events(sleeping_event(1000, 5000),
                                         sleeping_event(5000, 5100, 3000, thread=56),
                                         sleeping_event(5100, 5200, 3100, thread=58,
                                                        address=OTHER_LOCK))

    def test_keys_switch_to_processes_and_threads(self):
        self.log_cpus([sleeping_event(1000, 1010)])
        process, terminal, _ = self.start_on_terminal("top", "-e", "linux_mutex", "-d", "600")
        with self.with_repeated_waits():
            self.press_keys(terminal, b"h",
                            "Keys:.* p processes that wait.* t threads that wait.*Linux' locks")
            self.press_keys(terminal, b"h", r"locks that sleep.*\nmy_lock ")
            screen = self.press_keys(terminal, b"p",
                                     r"Who waited,.*\n56 waiter .*Who held.*50 leader ")
            self.assertNotIn("locks that sleep", screen)
            self.press_keys(terminal, b"t",
                            r"Who waited,.*\n5[68] (waiter|other) .*\n5[68] (waiter|other) .*Who held")
            self.press_keys(terminal, b"p", r"Who waited,.*\n56 waiter ")
            screen = self.press_keys(terminal, b"p", r"locks that sleep.*\nmy_lock ")
            self.assertNotIn("Who waited", screen)
            self.quit_by_key(process, terminal)

    def test_filter_finds_waiters_holders_and_locks(self):
        self.log_cpus([sleeping_event(1000, 1010)])
        process, terminal, _ = self.start_on_terminal("top", "-e", "linux_mutex", "-d", ".2", "--by", "thread")
        with self.with_repeated_waits():
            self.press_keys(terminal, b"", r"\n58 other .*\nother_lock +58 other +")
            screen = self.press_keys(terminal, b"fwaiter\n",
                                     r'"waiter" in.*\n56 waiter .*\nmy_lock .*\n', whole=True)
            self.assertNotIn("other", screen)
            screen = self.press_keys(terminal, b"f55 h\n",
                                     r'"55 h" in.*\nmy_lock +56 waiter +55 holder', whole=True)
            self.assertNotIn("\n56 waiter", screen)
            self.quit_by_key(process, terminal)


if __name__ == "__main__":
    tap.main()
