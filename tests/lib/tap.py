# SPDX-License-Identifier: GPL-2.0-only
"""Run unittest cases with one line for each, as KUnit prints them (TAP).

CASES="Class.test Class" in the environment runs those cases only.
"""

import os
import shlex
import sys
import unittest


class Result(unittest.TestResult):
    def _line(self, word, test, note=""):
        name = test.id().replace("__main__.", "")
        print("%s - %s%s" % (word, name, note), flush=True)

    def addSuccess(self, test):
        self._line("ok", test)

    def addSkip(self, test, reason):
        self._line("ok", test, " # SKIP " + reason)

    def _fail(self, test, error):
        self._line("not ok", test)
        command = shlex.join(["CASES=" + test.id().split(" ")[0].replace("__main__.", ""),
                              "PYTHONPATH=" + os.environ.get("PYTHONPATH", ""), sys.executable,
                              *sys.argv])
        print("# alone: " + command)
        for line in self._exc_info_to_string(error, test).splitlines():
            print("# " + line)

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        """Print a line for a failed subtest, for which unittest calls no other method."""
        super().addSubTest(test, subtest, error)
        if error:
            self._fail(subtest, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)


def main(classes=()):
    script, load = sys.modules["__main__"], unittest.defaultTestLoader
    classes = os.environ.get("CASES", "").split() or classes
    suite = unittest.TestSuite(load.loadTestsFromName(name, script) for name in classes) \
        if classes else load.loadTestsFromModule(script)
    result = Result()
    suite.run(result)
    sys.exit(not result.wasSuccessful())
