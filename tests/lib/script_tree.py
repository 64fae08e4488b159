# SPDX-License-Identifier: GPL-2.0-only
"""A copy of some of the project's scripts, whose others a test replaces."""

import os
import shutil
import subprocess
import tempfile
import unittest

COMMON = ("scripts/lib.sh", "scripts/progress.sh", "scripts/packages")


class ScriptTree(unittest.TestCase):
    """Scripts of the directory TOP, with a cache and output of their own.

    A subclass sets TOP, and PATHS for the files and directories that it needs beyond COMMON.
    """

    TOP = None
    PATHS = ()

    def setUp(self):
        # run.sh demands more room than /tmp has on some machines, and removes what a test that was
        # ended has left here.
        out = os.path.join(self.TOP, "out/test")
        os.makedirs(out, exist_ok=True)
        self.top = tempfile.mkdtemp(dir=out)
        self.addCleanup(shutil.rmtree, self.top)
        self.cache = os.path.join(self.top, "cache")
        for path in COMMON + self.PATHS:
            copy = os.path.join(self.top, path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isdir(os.path.join(self.TOP, path)):
                shutil.copytree(os.path.join(self.TOP, path), copy)
            else:
                shutil.copy(os.path.join(self.TOP, path), copy)

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(path, mode)

    def run_script(self, *command, **environment):
        """Run a script as a user does, also within a step of the tests."""
        # run.sh and step.sh set these for a step.
        names = ("SAY_FD", "STEP", "ONLY", "TIME_LIMIT", "SCRIPT_OUTPUTS", "NTKLOG_STEPS",
                 "NTKLOG_START", "NTKLOG_STAGE", "NTKLOG_IS_LOGGED", "OUT")
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        process = subprocess.Popen(
            [os.path.join(self.top, command[0]), *command[1:]], cwd=self.top,
            env={**inherited, "XDG_CACHE_HOME": self.cache, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            output, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            # It ends its processes, which SIGKILL would leave behind.
            process.terminate()
            output, _ = process.communicate()
            self.fail("no end after 300 s: " + output)
        return subprocess.CompletedProcess(command, process.returncode, output)
