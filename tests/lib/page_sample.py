# SPDX-License-Identifier: GPL-2.0-only
"""A recording for tests of pages.

Usage: page_sample.py FILE [SEED]
"""

import random
import sys

import etl_writer as etl

# The events begin where those of the sampling rates are.
BEGIN = etl.START_CLOCK + etl.PERF_FREQ

FUNCTIONS = """entry_SYSCALL_64_after_hwframe do_syscall_64 __x64_sys_write __x64_sys_openat
__x64_sys_munmap __x64_sys_futex ksys_write vfs_write ext4_file_write_iter
ext4_buffered_write_iter generic_perform_write ext4_da_write_begin __filemap_get_folio
do_sys_openat2 do_filp_open path_openat link_path_walk walk_component lookup_fast d_lookup
__d_lookup dput __munmap do_vmi_munmap unmap_region free_pgtables tlb_finish_mmu
mmap_write_lock_killable futex_wait futex_wake try_to_wake_up ttwu_queue_wakelist
a_function_of_some_driver_with_quite_a_long_name_for_a_table""".split()

# Stacks, as indexes of FUNCTIONS, the outermost function first.
PATHS = ([0, 1, 2, 6, 7, 8, 9, 10, 11, 12], [0, 1, 2, 6, 7, 8, 9, 10],
         [0, 1, 3, 13, 14, 15, 16, 17], [0, 1, 3, 13, 14, 15, 16, 18, 19, 20],
         [0, 1, 3, 13, 14, 21], [0, 1, 4, 22, 23, 24, 25], [0, 1, 4, 22, 23, 27], [0, 1, 5, 28],
         [0, 1, 5, 29, 30, 31], [0, 1, 2, 6, 7, 32])

# Name, kind (None: a spin lock), mean hold and mean pause in ticks, paths.
LOCKS = (("mm_struct.mmap_lock", "rwsem", 2000, 6000, (5, 6)),
         ("inode.i_rwsem", "rwsem", 1700, 6500, (0, 1, 9)),
         ("ext4_sb_info.s_umount_rwsem_with_a_name_that_is_long", "mutex", 900, 7000, (1, 9)),
         ("dentry.d_lockref.lock", None, 60, 1600, (2, 3, 4)),
         ("futex_hash_bucket.lock", None, 30, 900, (7, 8)),
         ("rq.__lock", None, 20, 600, (8,)),
         ("zone.lock", None, 100, 3000, (0, 6)))

TASKS = ("postgres", "postgres", "kworker/u8:3", "nginx", "backup.sh", "jbd2/sda1-8", "python3")


def address_of(function):
    return 0xFFFFFFFF81000000 + 0x1000 * function


def simulate_lock(number, random_, ticks):
    _, kind, mean_hold, mean_pause, paths = LOCKS[number]
    lock, free, arrival = 0xFFFF888010000000 + 0x100 * number, 0, 0
    while arrival < ticks:
        burst = 0.3 if arrival * 10 // ticks % 3 == 1 else 1
        arrival += int(random_.expovariate(1 / mean_pause) * burst) + 1
        hold = int(random_.lognormvariate(0, 1) * mean_hold) + 1
        wait = max(0, free - arrival)
        acquired = max(arrival, free)
        free = release = acquired + hold
        task = random_.randrange(len(TASKS))
        path = [address_of(at) + 0x10 for at in PATHS[random_.choice(paths)]][::-1]
        at = BEGIN + release
        if kind:
            yield at, etl.linux_lock_event(kind, time_stamp=at, address=lock, hold=hold, wait=wait,
                                           acquire=BEGIN + acquired, thread=100 + task,
                                           delta=1)
        else:
            yield at, etl.perfinfo(0x0529, etl.spin_lock(
                address=lock, caller=path[0], acquire=BEGIN + acquired, release=at,
                wait=wait, spins=1 if wait else 0, thread=100 + task, interrupts=0,
                depth=1 + random_.randrange(3), flags=1), time_stamp=at)
        yield at + 1, etl.stack_event(at, path, thread=100 + task)


def lines_of_names():
    yield from ("%x T %s" % (address_of(i), name) for i, name in enumerate(FUNCTIONS))
    yield from ("%x d %s" % (0xFFFF888010000000 + 0x100 * i, lock[0])
                for i, lock in enumerate(LOCKS))
    yield from ("thread %d %s" % (100 + i, name) for i, name in enumerate(TASKS))


def write_sample(path, seed=1, ticks=etl.PERF_FREQ):
    random_ = random.Random(seed)
    events = sorted((event for number in range(len(LOCKS))
                     for event in simulate_lock(number, random_, ticks)),
                    key=lambda event: event[0])
    with open(path, "wb") as stream:
        stream.write(etl.long_file([etl.spinlock_rundown(1, 1, 1, 0),
                                    etl.ntklog_rundown(0, blockers=1), etl.resource_rundown(1, 1),
                                    *(event for _, event in events)]))
    with open(path + ".names", "w", encoding="ascii") as stream:
        stream.writelines(line + "\n" for line in lines_of_names())


if __name__ == "__main__":
    write_sample(sys.argv[1], int((sys.argv + ["1"])[2]))
