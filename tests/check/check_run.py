#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Try run.sh and soak.sh with steps that end as they should not.

Usage: check_run.py TOP
"""

import fcntl
import os
import sys

import script_tree
import tap

# A step that is killed in the middle of a line, by the process ID that is formatted in; then the rest
# of a step that has outlived its step.sh.
KILL = """#!/bin/bash
printf 'ok - first of many results\\nok - sec'
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
        self.write("tests/steps/%s.sh" % name, text, 0o755)

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

    def test_limit_of_time_is_a_decimal_number(self):
        self.write_step("good", "echo 'ok - one'\n")
        for limit in "09", "-1":
            lines = self.run_plan("good - check host 1", TIME_LIMIT=limit)[1]
            self.assertEqual(lines, ['ntklog: TIME_LIMIT is a number of minutes, not "%s"' % limit])
        self.assertEqual(self.run_plan("good - check host 1", TIME_LIMIT="9")[0], 0)

    def test_forecast_is_at_least_the_longest_step(self):
        self.write_step("long", "echo 'ok - one'\n")
        self.write_step("short", "echo 'ok - two'\n")
        lines = self.run_plan("long - check vm 1200", "short - check host 60")[1]
        self.assertIn(" 2 steps, about 21 min ", "\n".join(lines))


class Soak(Tree):
    def setUp(self):
        super().setUp()
        self.write("scripts/kernels/test-kernel.sh", "#!/bin/sh\necho kernel\n", 0o755)

    def run_soak(self, step):
        self.write_step("cycles", step)
        return self.run_script("tests/soak.sh", "cycles", SOAK_HOURS="0.0014")

    def test_slice_counts_once_its_results_are_ok(self):
        result = self.run_soak("#!/bin/sh\nsleep 6\necho 'ok - one'\n")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("100 of 1000 cycles; 100 in 0.0 hours of all runs", result.stdout)

    def test_progress_has_the_test_that_runs(self):
        result = self.run_soak("""#!/bin/bash
. "$(dirname "$0")/../lib.sh"
say "installing a compiler"
run_test "cycles: hundred times" grep -x "cycles: hundred times" "$NTKLOG_STAGE"
""")
        self.assertIn("100 of 1000 cycles", result.stdout)

    def test_slice_without_a_result_has_failed(self):
        result = self.run_soak("#!/bin/sh\nprintf 'ok - on'; exit 1\n")
        self.assertIn("cycles: 0 of 1000 cycles", result.stdout)
        result = self.run_soak("#!/bin/sh\ntrue\n")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]),
                         (1, "0 passed, 1 failed"))
        self.assertIn("cycles: 0 of 1000 cycles", result.stdout)

    def test_part_that_fails_at_once_is_not_tried_again(self):
        result = self.run_soak("#!/bin/sh\necho 'not ok - one'\n")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]),
                         (1, "0 passed, 1 failed"))

    def test_slices_and_tests_do_not_share_files(self):
        os.makedirs(os.path.join(self.top, "out"), exist_ok=True)
        for name, message in (("test", "a run of the tests uses " + self.top + "/out"),
                              ("soak-cycles", "another soak in %s has the part cycles" % self.top)):
            with open(os.path.join(self.top, "out/%s.lock" % name), "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                result = self.run_soak("#!/bin/sh\necho 'ok - one'\n")
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stdout)


if __name__ == "__main__":
    tap.main()
