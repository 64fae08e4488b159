#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Try run.sh and soak.sh with steps that end as they should not.

Usage: check_run.py TOP
"""

import fcntl
import os
import subprocess
import sys

import script_tree
import tap

USES_LIB = '. "$(dirname "$0")/../lib.sh"\n'

# A step that is killed in the middle of a line, by the process ID that is formatted in; then the rest
# of a step that has outlived its step.sh.
KILL = """printf 'ok - first of many results\\nok - sec'
kill -9 %s
sleep 1
for i in 1 2 3 4; do
	echo "ok - the same long result as ever"
done
"""


class Tree(script_tree.ScriptTree):
    TOP = sys.argv[1]
    PATHS = ("tests/run.sh", "tests/step.sh", "tests/soak.sh", "tests/forecast.sh",
             "tests/status.awk", "tests/lib.sh")

    def write_step(self, name, text):
        self.write("tests/steps/%s.sh" % name, "#!/bin/bash\n" + text, 0o755)

    def run_plan(self, *lines, **environment):
        """Return the exit status and the lines that run.sh prints for these lines of tests/plan."""
        self.write("tests/plan", "".join(line + " unpack\n" for line in lines))
        result = self.run_script("tests/run.sh", "check", **environment)
        return result.returncode, result.stdout.splitlines()


class Run(Tree):
    def test_results_are_counted(self):
        self.write_step("good", "echo 'ok - one'; echo 'ok - two # SKIP no device'\n")
        self.write_step("bad", "echo 'not ok - three'\n")
        code, lines = self.run_plan("good - check host 1", "bad good check host 1")
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 1 skipped"))

    def test_others_go_on_when_a_step_or_its_script_was_killed(self):
        self.write_step("good", "echo 'ok - runs'\n")
        self.write_step("machine", "echo 'ok - runs'\n")
        self.write_step("waiting", "echo 'ok - runs'\n")
        for process in "$$", "$PPID":
            self.write_step("killed", KILL % process)
            code, lines = self.run_plan("killed - check host 1", "good - check host 1",
                                        "machine good check vm 1", "waiting killed check vm 1")
            self.assertEqual(code, 1, lines)
            text = "\n".join(lines)
            self.assertIn("failed in killed", text)
            self.assertIn("waiting runs: its need killed has failed", text)
            self.assertRegex(text, "machine: 1 passed, 0 failed")
            self.assertRegex(lines[-1], r"^\d passed, 2 failed$")

    def test_part_of_a_line_hides_no_result(self):
        self.write_step("bad", "echo 'not ok - last'\n")
        for script, passed, failed in (
                ("printf 'ok - one'", 1, 1),
                ("printf hello", 0, 2),
                (USES_LIB + "run_test_program sh -c \"printf 'ok - on'; kill -9 \\$\\$\"", 1, 2),
                (USES_LIB + "printf 'ok - one\\n\\0\\nnot ok - two\\n' >$DIR/guest.log;"
                            "print_guest_results", 1, 2),
                (USES_LIB + "run_test one sh -c 'printf why; false'; run_test two false", 0, 3)):
            self.write_step("a", script)
            code, lines = self.run_plan("a - check host 1", "bad - check host 1")
            self.assertEqual((code, lines[-1]), (1, "%d passed, %d failed" % (passed, failed)))

    def test_killed_shell_of_make_stops_no_step(self):
        self.write_step("orphan", "kill -9 $(ps -o ppid= -p $PPID); sleep 1; echo 'ok - runs'\n")
        self.write_step("good", "echo 'ok - runs'\n")
        self.write_step("machine", "echo 'ok - runs'\n")
        code, lines = self.run_plan("orphan - check host 1", "good - check host 1",
                                    "machine good check vm 1")
        self.assertEqual(code, 1, lines)
        self.assertIn("failed in good", "\n".join(lines))
        self.assertIn("machine runs: its need good has failed", "\n".join(lines))

    def test_full_disk_is_an_error(self):
        out = os.path.join(self.top, "out")
        os.makedirs(out)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", out],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", out], check=True)
        self.write("tests/forecast.sh", "print_forecast() { :; }\n")
        self.write_step("fill", "echo 'ok - one'; head -c 2m /dev/zero >%s/test/fill.bin\n" % out)
        self.write_step("machine", "echo 'ok - runs'\n")
        code, lines = self.run_plan("fill - check host 1", "machine fill check vm 1")
        self.assertEqual(code, 1, lines)
        self.assertRegex(lines[-1], "^ntklog: the results of .* cannot be written to %s/test" % out)

    def test_limit_of_time_is_a_decimal_number(self):
        self.write_step("good", "echo 'ok - one'\n")
        for limit in "09", "-1", "200000000000000000":
            lines = self.run_plan("good - check host 1", TIME_LIMIT=limit)[1]
            self.assertEqual(lines, ['ntklog: TIME_LIMIT is a number of minutes, not "%s"' % limit])
        self.assertEqual(self.run_plan("good - check host 1", TIME_LIMIT="9", ONLY=" ")[0], 0)

    def test_forecast_is_at_least_the_longest_step(self):
        self.write_step("long", "echo 'ok - one'\n")
        self.write_step("short", "echo 'ok - two'\n")
        lines = self.run_plan("long - check vm 1200", "short - check host 60")[1]
        self.assertIn(" 2 steps, about 21 min ", "\n".join(lines))
        # A full disk leaves an empty file.
        self.write("cache/ntklog/seconds/long", "")
        lines = self.run_plan("long - check vm 1200", "short - check host 60")[1]
        self.assertIn(" 2 steps, about 21 min ", "\n".join(lines))

    def test_busy_machine_changes_the_next_forecast_less(self):
        self.write_step("first", "echo 'ok - one'\n")
        self.write_step("slow", "sleep 4; echo 'ok - one'\n")
        for planned, least, most in ("0\n", 1, 3), ("900\n", 4, 99):
            self.write("cache/ntklog/seconds/slow", planned)
            self.run_plan("first - check host 1", "slow - check host 1")
            path = os.path.join(self.cache, "ntklog/seconds/slow")
            with open(path, encoding="utf-8") as stream:
                self.assertIn(int(stream.read()), range(least, most + 1))


class Soak(Tree):
    def setUp(self):
        super().setUp()
        self.write("scripts/kernels/test-kernel.sh", "#!/bin/sh\necho kernel\n", 0o755)

    def run_soak(self, step, *parts, hours="0"):
        self.write_step("cycles", step)
        return self.run_script("tests/soak.sh", *(parts or ["cycles"]), SOAK_HOURS=hours)

    def test_slice_counts_once_its_results_are_ok(self):
        result = self.run_soak("echo 'ok - one'\n")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("100 of 1000 cycles; 100 in 0.0 hours of all runs", result.stdout)

    def test_progress_has_the_test_that_runs(self):
        result = self.run_soak(USES_LIB + """
say "installing a compiler"
run_test "cycles: hundred times" grep -x "cycles: hundred times" "$NTKLOG_STAGE"
""")
        self.assertIn("100 of 1000 cycles", result.stdout)

    def test_slice_without_a_result_has_failed(self):
        for step in "printf 'ok - on'; exit 1\n", "true\n", "printf hello\n":
            result = self.run_soak(step)
            self.assertIn("cycles: 0 of 1000 cycles", result.stdout)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stdout.splitlines()[-1], " passed, 1 failed$")

    def test_part_that_fails_at_once_is_not_tried_again(self):
        result = self.run_soak("echo 'not ok - one'\n", hours="8")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]),
                         (1, "0 passed, 1 failed"))

    def test_part_that_is_done_begins_anew(self):
        self.write("cache/ntklog/soak/cycles.done", "1000\n")
        result = self.run_soak("echo 'ok - one'\n", "cycles", "cycles")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("cycles: 100 of 1000 cycles", result.stdout)

    def test_hours_are_a_number(self):
        result = self.run_soak("echo 'ok - one'\n", hours="0,5")
        self.assertEqual((result.returncode, result.stdout),
                         (1, 'ntklog: SOAK_HOURS is a number of hours, not "0,5"\n'))

    def test_slices_and_tests_do_not_share_files(self):
        for path, message in (("out/test.lock", "a run of the tests uses " + self.top + "/out"),
                              ("cache/ntklog/soak/cycles.lock",
                               "another soak has the part cycles")):
            path = os.path.join(self.top, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                result = self.run_soak("echo 'ok - one'\n")
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stdout)


if __name__ == "__main__":
    tap.main()
