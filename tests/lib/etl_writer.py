# SPDX-License-Identifier: GPL-2.0-only
"""Make small ETL files for the tests, byte by byte, with pointers of 32 or 64 bits (@bits)."""

import struct

SIZE = 4096
# Clock at the start of the session, and ticks of the clock per second.
START_CLOCK = 1_000_000
PERF_FREQ = 2_000_000


def pad_event(event):
    return event + bytes(-len(event) % 8)


def perfinfo(hook_id, data, version=2, bits=64, time_stamp=START_CLOCK + PERF_FREQ,
             extended=0):
    header_type = 0x11 if bits == 64 else 0x10
    return struct.pack("<BBBBHHQ", version, extended, header_type, 0xC0,
                       0x10 + len(data), hook_id, time_stamp) + data


def system_event(hook_id, data, bits=64, version=2):
    """An event with a SYSTEM_TRACE_HEADER: by thread 11 of process 22."""
    return struct.pack("<HBBHHIIqII", version, 2 if bits == 64 else 1, 0xC0,
                       0x20 + len(data), hook_id, 11, 22, START_CLOCK, 0, 0) + data


def wpp_event(number, flags=0, data=b""):
    """A WPP message: byte 2, which is the type of the header in other events, is 0."""
    return struct.pack("<HBBHH", 8 + len(data), 0, 0x90, number, flags) + data


def buffer(events, size=None, sequence=1, processor=0, flags=0x20, kind=0, **changes):
    size = size or SIZE
    body = b"".join(pad_event(event) for event in events)
    saved = changes.get("saved_offset", 0x48 + len(body))
    assert "saved_offset" in changes or saved <= size, "too many events for a buffer: see long_file()"
    header = struct.pack("<IIIiqqQHHIIHHqq", changes.get("buffer_size", size), saved, saved,
                         0, changes.get("time_stamp", 9_000_000), sequence, 3 | PERF_FREQ << 3, processor, 0, 3,
                         saved, flags, kind, 0, 0)
    return (header + body).ljust(size, b"\xff")


def logfile_header(buffers, bits=64, padding=True, end_time=2, perf_freq=PERF_FREQ, boot_time=1,
                   events_lost=0):
    pointer = "Q" if bits == 64 else "I"
    names = "Logger\0file.etl\0".encode("utf-16-le")
    return struct.pack("<IIIIqIIIIIIII" + pointer * 2, SIZE, 0x0501000A, 1, 2, end_time, 0,
                       0, 1, buffers, 1, bits // 8, events_lost, 2000, 0, 0) + \
        bytes(0xAC) + bytes(4 if padding else 0) + \
        struct.pack("<qqqII", boot_time, perf_freq, 132_000_000_000_000_000, 3, 0) + names


def group_mask(*groups):
    masks = [0] * 9
    for group in groups:
        masks[group >> 29] |= group & 0x1FFFFFFF
    return struct.pack("<9I", *masks)


def header_buffer(buffers, groups=(), **changes):
    bits = changes.get("bits", 64)
    return buffer([system_event(0x0000, logfile_header(buffers, **changes), bits),
                   system_event(0x0005, group_mask(*groups), bits),
                   system_event(0x0050, bytes(0x30), bits)], flags=0x21, kind=4, sequence=0)


def spin_lock(bits=64, address=0xFFFF888012345678, caller=0xFFFFFFFF81234567, flags=0x41,
              acquire=1001, release=2002, wait=303, spins=44, thread=55, depth=7,
              interrupts=6, rule=0, irql=2):
    if bits == 32:
        address, caller = address & 0xFFFFFFFF, caller & 0xFFFFFFFF
    pointer = "Q" if bits == 64 else "I"
    return struct.pack("<" + pointer * 2 + "QQIIIIBBBB4x", address, caller, acquire, release,
                       wait, spins, thread, interrupts, irql, depth, flags, rule)


def spinlock_rundown(spins=1, contention=1, acquire=1000, hold=0, end=False, **options):
    return perfinfo(0x0F4C if end else 0x0F4B,
                    struct.pack("<IIII", spins, contention, acquire, hold), version=3, **options)


def ntklog_rundown(linux_mode=0, end=False, blockers=0, **options):
    """The mode of Linux' spinning locks and the rate of blockers. In a file with it the last byte
    of a spin lock's record is Rule.
    """
    return perfinfo(0xA04C if end else 0xA04B, struct.pack("<II", linux_mode, blockers),
                    version=1, **options)


def dropped_rundown(spin=0, sleeping=0, end=False, steal=None, **changes):
    """The numbers of releases that left a waiter and were not written, and the steal time in ns;
    None: version 1 of the event.
    """
    data = struct.pack("<QQ", spin, sleeping)
    if steal is not None:
        data += struct.pack("<Q", steal)
    return perfinfo(0xA051 if end else 0xA050, data, version=1 if steal is None else 2, **changes)


def caller_event(lock, address, off_cpu=None, **changes):
    """The caller that acquired a lock; the lock's record follows. @off_cpu: the cycles without a
    CPU; None: version 1 of the event.
    """
    data = struct.pack("<QQ", lock, address)
    if off_cpu is None:
        return perfinfo(0xA052, data, version=1, **changes)
    times = [off_cpu.get(name, 0) for name in ("hold_ready", "hold_blocked", "wait_ready",
                                               "wait_last_ready", "wait_blocked")]
    return perfinfo(0xA052, data + struct.pack("<QQQQQ", *times), version=2, **changes)


def block_stack_event(lock, blocked, frames, since=1000, **changes):
    """The lock's record follows."""
    return perfinfo(0xA054, struct.pack("<15Q", lock, since, blocked, *frames,
                                        *[0] * (12 - len(frames))), version=1, **changes)


# ntklog's classes of Linux' sleeping locks, in the upper half of Action.
LINUX_KINDS = {"mutex": 0x80010000, "rwsem": 0x80020000, "semaphore": 0x80030000,
               "rt_mutex": 0x80040000, "percpu_rwsem": 0x80050000, "ww_mutex": 0x80060000}


# The lower half of Action of an open hold.
OPEN_STATES = {"begin": 0, "held": 0x21, "waits": 0x24, "reads": 0x41, "waits to read": 0x44}


def open_hold_event(list_time, state="begin", kind="mutex", off_cpu=None, time_stamp=None,
                    **changes):
    """A lock that a task holds or waits for at the end of the recording. State "begin" begins the
    list. @off_cpu: the cycles ready without a CPU, and blocked; None: version 1 of the event.
    """
    values = {"address": 0, "since": 0, "wait": 0, "caller": 0, "thread": 0, "delta": 0, **changes}
    action = state != "begin" and LINUX_KINDS[kind] | OPEN_STATES[state]
    data = struct.pack("<QQQQQIIII", list_time, values["address"], values["since"], values["wait"],
                       values["caller"], values["thread"], action, values["delta"], 0)
    if off_cpu is not None:
        data += struct.pack("<QQ", *off_cpu)
    return perfinfo(0xA053, data, version=1 if off_cpu is None else 2,
                    time_stamp=time_stamp or list_time + 1)


def linux_lock_event(kind, action=0x22, bits=64, time_stamp=START_CLOCK + PERF_FREQ, **changes):
    """@action is the lower half of Action."""
    return perfinfo(0x052B, resource_data(bits, action=LINUX_KINDS[kind] | action,
                                          **{"depth": 1, **changes}), bits=bits,
                    time_stamp=time_stamp)


def pack_pointers(values, bits=64):
    return struct.pack("<%d%s" % (len(values), "Q" if bits == 64 else "I"),
                       *(value & (2 ** bits - 1) for value in values))


def stack_event(event_time, addresses, thread=55, process=54, bits=64, hook_id=0x1820, **changes):
    """With the hook id of a stack key event it has the key of a stack, its one address, instead."""
    return perfinfo(hook_id, struct.pack("<QII", event_time, process, thread) +
                    pack_pointers(addresses, bits), bits=bits,
                    **{"time_stamp": event_time + 1, **changes})


def stack_definition_event(key, addresses, bits=64, hook_id=0x1822, **changes):
    return perfinfo(hook_id, pack_pointers([key, *addresses], bits), bits=bits, **changes)


def stacks_rundown(stacks, end=False, **changes):
    """Bits: 1 context swaps, 2 spin locks, 4 resources."""
    return perfinfo(0xA04E if end else 0xA04D, struct.pack("<I", stacks), version=1, **changes)


def observed_event(group, observed=1, **changes):
    """The session begins (@observed 1) or ends (0) to record a group."""
    return perfinfo(0xA04F, struct.pack("<II", group, observed), version=1, **changes)


def resource_rundown(release=1000, contention=1, timeouts=1):
    return perfinfo(0x0F4D, struct.pack("<III", release, contention, timeouts))


def resource_data(bits=64, address=0xFFFF888012345678, action=0x10022, hold=202, wait=303,
                  depth=44, thread=55, delta=66, acquire=1001):
    if bits == 32:
        return struct.pack("<QQQIIIII4x", acquire, hold, wait, depth, thread,
                           address & 0xFFFFFFFF, action, delta)
    return struct.pack("<QQQIIQII", acquire, hold, wait, depth, thread, address, action, delta)


def context_swap_data(version=4, flags=0x39, new=11, old=22, state=5, wait_time=99):
    head = struct.pack("<IIbbBBBBBB", new, old, 8, -1, 3, 0, 6, flags, state, 7)
    return head if version == 1 else head + struct.pack("<Ii", wait_time, -123456)


def ready_thread_data(thread=11, reason=1, increment=0, flags=0):
    return struct.pack("<IbbBx", thread, reason, increment, flags)


def file(*events, bits=64, **changes):
    return header_buffer(2, bits=bits, **changes) + buffer(events, flags=0x21)


def long_file(events):
    """Each buffer has up to 40 events."""
    parts = [events[first:first + 40] for first in range(0, len(events), 40)]
    return header_buffer(1 + len(parts)) + b"".join(
        buffer(part, sequence=1 + number) for number, part in enumerate(parts))


def utf16_with_nul(text):
    return text.encode("utf-16-le") + b"\0\0"


def token_user(bits=64, authorities=5):
    """A TOKEN_USER and the SID behind it, with this number of subauthorities; 0: no user."""
    if not authorities:
        return bytes(4)
    return struct.pack("<" + ("QQ" if bits == 64 else "II"), 0xFFFFC00012345678 & (2 ** bits - 1),
                       0) + bytes((1, authorities)) + bytes(6 + 4 * authorities)


def process_event(pid, name, version=4, bits=64, type_=3, authorities=5, system_header=False):
    """A process event of Windows; type_ is 1 at the start, 2 at the end, 3 or 4 in a rundown."""
    pointer = "Q" if bits == 64 else "I"
    if version == 0:
        data = struct.pack("<" + 2 * pointer, pid, 4)
    else:
        data = struct.pack("<" + pointer + "IIIi", 0x12345678, pid, 4, 1, 259)
    if version >= 3:
        data += struct.pack("<" + pointer, 0x1AB000)
    if version >= 4:
        data += struct.pack("<I", 0)
    data += token_user(bits, authorities) + name.encode("latin-1") + b"\0"
    if version >= 2:
        data += utf16_with_nul("C:\\" + name + " -k")
    if version >= 4:
        data += utf16_with_nul("") + utf16_with_nul("")
    if system_header:
        return system_event(0x0300 + type_, data, bits, version)
    return perfinfo(0x0300 + type_, data, version, bits)


def thread_event(tid, pid, version=3, bits=64, type_=3, name="", set_name=False):
    """A thread event of Windows; type_ as for process_event(). With set_name, one that names a thread."""
    pointer = "Q" if bits == 64 else "I"
    if set_name:
        return perfinfo(0x0548, struct.pack("<II", pid, tid) + utf16_with_nul(name), 2, bits)
    if version == 0:
        return perfinfo(0x0500 + type_, struct.pack("<II", tid, pid), version, bits)
    data = struct.pack("<II" + 6 * pointer, pid, tid, *6 * [0x1000])
    if version == 1:
        data += b"\0"
    else:
        data += struct.pack("<" + pointer + "I4B", 0x2000, 0, 8, 5, 2, 0)
    if version >= 4:
        data += utf16_with_nul(name)
    return perfinfo(0x0500 + type_, data, version, bits)


def image_event(base, size, path, version=3, bits=64, hook_id=0x1403):
    pointer = "Q" if bits == 64 else "I"
    data = struct.pack("<" + 2 * pointer, base, size)
    if version:
        data += struct.pack("<I", 4)
    if version >= 2:
        data += struct.pack("<III" + pointer + "IIII", 0xABCD, 0x5F000000, 0, base, 0, 0, 0, 0)
    return perfinfo(hook_id, data + utf16_with_nul(path), version, bits)


def image_id_event(base, size, name, bits=64):
    """An image event of KernelTraceControl, which Windows' tools add when they merge files."""
    pointer = "Q" if bits == 64 else "I"
    data = struct.pack("<" + 2 * pointer + "II", base, size, 0, 0x5F000000) + utf16_with_nul(name)
    guid = bytes.fromhex("d775e6b35425184f830b2762732560de")
    return struct.pack("<HBBBBHIIq", 0x30 + len(data), 0x14 if bits == 64 else 0x0A, 0xC0, 0, 0,
                       2, 77, 4, START_CLOCK + PERF_FREQ) + guid + bytes(8) + data
