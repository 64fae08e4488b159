#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Try whether scripts/check/checkpatch.sh and sparse.sh find what they look for.

Usage: check_style.py TOP
"""

import os
import shutil
import subprocess
import sys
import threading
import time

import script_tree
import tap

TOP = sys.argv[1]
CLEAN = "/* SPDX-License-Identifier: GPL-2.0-only */\n"
# Replaces build-modules.sh: writes the logs of the compiler and of sparse.
BUILD_SCRIPT = """#!/bin/sh
mkdir -p "$OUT/build/$ABI"
printf '%s\n' "$COMPILER_PRINTS" >"$OUT/build/$ABI/modules.log"
printf '%s\n' "$SPARSE_PRINTS" >"$OUT/build/$ABI/sparse.log"
"""
# A kernel's, for modules that sparse checks by a command.
MAKEFILE = """modules:
	: >$(M)/modules.order
	@[ "$(C)" != 2 ] || { echo "  CHECK   $(M)/module/main.c"; %s; }
"""


class Tree(script_tree.ScriptTree):
    TOP = TOP
    PATHS = ("scripts/check", "scripts/kernels", ".checkpatch.conf")


class Sparse(Tree):
    def run_sparse(self, compiler="", sparse="", abi="6.12.1+deb12-amd64", checked="  CHECK   main.c"):
        """Return the findings of sparse.sh when the build has printed these lines."""
        self.write("scripts/build/build-modules.sh", BUILD_SCRIPT, 0o755)
        self.write("kernel/include/config/kernel.release", abi + "\n")
        build = os.path.join(self.cache, "ntklog/build")
        result = self.run_script("scripts/check/sparse.sh", os.path.join(self.top, "kernel"),
                                 ABI=abi, OUT=os.path.join(self.top, "out"),
                                 COMPILER_PRINTS=compiler.replace("BUILD", build),
                                 SPARSE_PRINTS=checked + "\n" + sparse.replace("BUILD", build))
        lines = [line for line in result.stdout.splitlines() if not line.startswith("[")]
        self.assertEqual(result.returncode, 1 if lines else 0, result.stdout)
        return lines

    def test_finding_of_sparse_fails(self):
        line = "BUILD/6.12.1+deb12-amd64/module/main.c:12:3: warning: incorrect type"
        self.assertEqual(len(self.run_sparse(sparse=line)), 1)

    def test_warning_of_the_compiler_fails(self):
        line = "BUILD/6.12.1+deb12-amd64/module/main.c:9:3: warning: unused variable"
        self.assertEqual(len(self.run_sparse(compiler=line)), 1)

    def test_path_relative_to_the_build_is_ours(self):
        self.assertEqual(len(self.run_sparse(sparse="module/main.c:12:3: error: no type")), 1)

        line = "././include/ntklog/locks.h:3:5: warning: symbol 'y' was not declared"
        self.assertEqual(len(self.run_sparse(sparse=line)), 1)

    def test_runs_for_two_kernels_do_not_share_a_log(self):
        shutil.copytree(os.path.join(TOP, "scripts/build"), os.path.join(self.top, "scripts/build"))
        with open(os.path.join(self.top, "scripts/lib.sh"), "a", encoding="utf-8") as lib:
            lib.write("install_groups() { :; }\n")
        runs = []
        for abi, command in (("6.1.1", "echo 'module/main.c:12:3: warning: no type'; sleep 2"),
                             ("6.12.1", "sleep 2")):
            self.write("%s/include/config/kernel.release" % abi, abi + "\n")
            self.write("%s/Makefile" % abi, MAKEFILE % command)
            runs.append(threading.Thread(target=lambda abi=abi: results.update(
                {abi: self.run_script("scripts/check/sparse.sh", os.path.join(self.top, abi))})))
        results = {}
        for run in runs:
            run.start()
            time.sleep(1)
        for run in runs:
            run.join()
        self.assertEqual([results[abi].returncode for abi in ("6.1.1", "6.12.1")], [1, 0],
                         results)

    def test_check_of_no_file_fails(self):
        self.assertEqual(self.run_sparse(checked=""), ["sparse has checked no file"])

    def test_warning_of_a_kernel_header_does_not_count(self):
        self.assertEqual(self.run_sparse(sparse="/usr/src/include/asm/msr.h:1:9: warning: x\n"
                                         "./include/linux/msr.h:1:9: warning: x\n"
                                         "BUILD/6.12.1+deb12-amd64/module/main.c: note: in"), [])


class Checkpatch(Tree):
    def run_checkpatch(self, *files):
        source = subprocess.run([os.path.join(TOP, "scripts/kernels/kernel-source.sh")], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        self.write("scripts/kernels/kernel-source.sh", "#!/bin/sh\necho %s" % source, 0o755)
        result = self.run_script("scripts/check/checkpatch.sh", *files)
        return result.returncode, result.stdout

    def test_finding_fails_again_and_again_beside_clean_and_empty_files(self):
        self.write("module/a.c", CLEAN.replace("/* ", "// ").replace(" */", ""))
        self.write("module/b.c", "")
        self.write("module/c.c", "int  a ;\n")
        for _ in range(2):
            code, output = self.run_checkpatch("module/a.c", "module/b.c", "module/c.c")
            self.assertEqual(code, 1)
            self.assertIn("module/c.c:1:", output)

    def test_clean_files_are_silent(self):
        self.write("module/a.h", CLEAN)
        self.write("module/b.h", CLEAN)
        self.assertEqual(self.run_checkpatch("module/a.h", "module/b.h"), (0, ""))


if __name__ == "__main__":
    tap.main()
