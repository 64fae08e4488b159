#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the frequency of this x86-64 machine's TSC in kHz."""

import ctypes
import mmap
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
CODE = bytes.fromhex("0f3148c1e2204809d0c3")

page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(CODE)
read_tsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))


def read_clocks():
    """Return the nanoseconds and the TSC of one moment: the best of some attempts."""
    attempts = []
    for _ in range(20):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        tsc = read_tsc()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        attempts.append((after - before, (before + after) // 2, tsc))
    return min(attempts)[1:]


begin, tsc_at_begin = read_clocks()
time.sleep(0.1)
end, tsc_at_end = read_clocks()
print((tsc_at_end - tsc_at_begin) * 1000000 // (end - begin))
