# SPDX-License-Identifier: GPL-2.0-only
"""A decoder of ETL files for the tests.

It is written from the descriptions of the format and shares no code with the module or the tool,
so that it can find errors that both make.
"""

import os
import struct
from collections import namedtuple

Buffer = namedtuple("Buffer", "offset size saved_offset time_stamp sequence clock_type "
                    "frequency processor logger_id flags type start_time start_clock events")
Event = namedtuple("Event", "offset hook_id version time_stamp size data")
SpinLock = namedtuple("SpinLock", "spin_lock_address caller_address acquire_time release_time "
                      "wait_time_in_cycles spin_count thread_id interrupt_count irql "
                      "acquire_depth acquire_mode execute_dpc execute_isr rule")
Resource = namedtuple("Resource", "acquire_time hold_time wait_time max_recursion_depth "
                      "thread_id resource action contention_delta")
Caller = namedtuple("Caller", "lock caller hold_ready hold_blocked wait_ready wait_last_ready "
                    "wait_blocked")
ContextSwap = namedtuple("ContextSwap", "new_thread_id old_thread_id new_thread_priority "
                         "old_thread_priority previous_c_state spare_byte "
                         "old_thread_wait_reason flags old_thread_state "
                         "old_thread_ideal_processor new_thread_wait_time "
                         "old_thread_remaining_quantum")
ReadyThread = namedtuple("ReadyThread", "thread_id adjust_reason adjust_increment flag")
StackWalk = namedtuple("StackWalk", "event_time_stamp process thread addresses")
Lock = namedtuple("Lock", "address type creator_back_trace_index owning_thread lock_count "
                  "contention_count entry_count recursion_count number_of_waiting_shared "
                  "number_of_waiting_exclusive")
LogfileHeader = namedtuple("LogfileHeader", "buffer_size version processors end_time mode "
                           "buffers_written pointer_size events_lost mhz boot_time perf_freq "
                           "start_time clock_type buffers_lost logger_name")

# ClockType of the machine that wrote the files: 3 on x86, 1 on arm64.
CLOCK_TYPE = int(os.environ.get("CLOCK_TYPE", 3))
# The lowest kernel address of the machine that wrote the files.
KERNEL = int(os.environ.get("KERNEL", 2**64 - (2**47 if CLOCK_TYPE == 3 else 2**48)))

# Hook ids of events. DC_START and DC_END are rundowns: the parameters of spin locks at the start
# and the end of a session.
SPINLOCK, DC_START, DC_END = 0x0529, 0x0F4B, 0x0F4C
NTKLOG_DC_START, NTKLOG_DC_END = 0xA04B, 0xA04C
OBSERVED = 0xA04F
DROPPED_DC_START, DROPPED_DC_END, CALLER = 0xA050, 0xA051, 0xA052
BLOCK_STACK = 0xA054
# A bit of Action: the release was written only because it left a waiter behind.
BLOCKER = 0x400
CONTEXTSWAP = 0x0524
READY_THREAD = 0x0532
STACKWALK, STACKS_DC_START, STACKS_DC_END = 0x1820, 0xA04D, 0xA04E
RESOURCE, RESOURCE_DC_START, RESOURCE_DC_END = 0x052B, 0x0F4D, 0x0F4E


class Wrong(Exception):
    """The file is not as the format describes it."""


def expect(condition, message, *values):
    if not condition:
        raise Wrong(message % values)


def decode_event(data, at, end, header_buffer):
    expect(end - at >= 0x10, "0x%x: %d bytes are no event", at, end - at)
    header_type, flags, size, hook_id = struct.unpack_from("<BBHH", data, at + 2)
    expect(flags == 0xC0, "0x%x: flags 0x%02x", at, flags)
    if header_buffer:
        expect(header_type == 2, "0x%x: header type 0x%02x", at, header_type)
        version, = struct.unpack_from("<H", data, at)
        time_stamp, = struct.unpack_from("<q", data, at + 0x10)
        header_size = 0x20
    else:
        expect(header_type == 0x11, "0x%x: header type 0x%02x", at, header_type)
        version, extended = struct.unpack_from("<BB", data, at)
        expect(extended == 0, "0x%x: extended flags 0x%02x", at, extended)
        time_stamp, = struct.unpack_from("<Q", data, at + 8)
        header_size = 0x10
    expect(header_size <= size <= end - at, "0x%x: size 0x%x", at, size)
    return Event(at, hook_id, version, time_stamp, size,
                 data[at + header_size:at + size])


def decode_buffer(data, at, size, header_buffer):
    (buffer_size, saved, current, references, time_stamp, sequence, clock, processor,
     logger_id, state, offset, flags, kind, start_time, start_clock) = \
        struct.unpack_from("<IIIiqqQHHIIHHqq", data, at)
    expect(buffer_size == size, "0x%x: buffer size 0x%x", at, buffer_size)
    expect(0x48 <= saved <= size and saved % 8 == 0, "0x%x: SavedOffset 0x%x", at, saved)
    expect(current == saved and offset == saved, "0x%x: offsets differ", at)
    expect(references == 0 and state == 3, "0x%x: not flushed", at)
    expect(kind == (4 if header_buffer else 0), "0x%x: buffer type %d", at, kind)
    expect(flags & 0x20, "0x%x: no processor index", at)
    expect(data[at + saved:at + size] == b"\xff" * (size - saved),
           "0x%x: the rest is not 0xFF", at)
    events = []
    next_at, end = at + 0x48, at + saved
    while next_at < end:
        event = decode_event(data, next_at, end, header_buffer)
        padded = (event.size + 7) & ~7
        expect(not any(data[next_at + event.size:next_at + padded]),
               "0x%x: padding", next_at)
        events.append(event)
        next_at += padded
    # The last buffer has the flush marker, and no events if the timer has just flushed them.
    expect(events or flags & 1, "0x%x: a buffer without events", at)
    if not header_buffer:
        stamps = [event.time_stamp for event in events]
        expect(stamps == sorted(stamps), "0x%x: time goes back", at)
        expect(not stamps or stamps[-1] <= time_stamp, "0x%x: flushed before its last event", at)
    return Buffer(at, buffer_size, saved, time_stamp, sequence, clock & 7, clock >> 3,
                  processor, logger_id, flags, kind, start_time, start_clock, events)


def decode(data):
    size, = struct.unpack_from("<I", data, 0)
    expect(size >= 4096 and len(data) % size == 0,
           "%d bytes are no buffers of 0x%x", len(data), size)
    return [decode_buffer(data, at, size, at == 0) for at in range(0, len(data), size)]


def logfile_header(buffers):
    event = buffers[0].events[0]
    data = event.data
    expect(event.hook_id == 0 and event.version == 2, "no TRACE_LOGFILE_HEADER")
    buffer_size, version, _, processors, end_time = struct.unpack_from("<IIIIq", data, 0)
    mode, written, _, pointer_size, lost, mhz = struct.unpack_from("<IIIIII", data, 0x20)
    boot_time, perf_freq, start_time, clock_type, buffers_lost = \
        struct.unpack_from("<qqqII", data, 0xF8)
    names = data[0x118:].decode("utf-16-le").split("\0")
    return LogfileHeader(buffer_size, version, processors, end_time, mode, written,
                         pointer_size, lost, mhz, boot_time, perf_freq, start_time,
                         clock_type, buffers_lost, names[0])


def events_in_order_of_time(buffers, hook_id):
    """The events with a hook id, of all processors, in the order of time."""
    return sorted((event for buffer in buffers[1:] for event in buffer.events
                   if event.hook_id == hook_id),
                  key=lambda event: (event.time_stamp, event.offset))


def decode_spin_lock(event):
    expect(event.hook_id == SPINLOCK and event.version == 2, "no spin lock event")
    expect(len(event.data) == 0x38, "0x%x: 0x%x bytes", event.offset, len(event.data))
    *fields, flags, rule, reserved = struct.unpack("<QQQQIIIIBBBB4s", event.data)
    expect(reserved == bytes(4), "0x%x: reserved bytes", event.offset)
    return SpinLock(*fields, flags & 0x3F, flags >> 6 & 1, flags >> 7, rule)


def decode_spin_locks(buffers):
    return [decode_spin_lock(event) for event in events_in_order_of_time(buffers, SPINLOCK)]


def decode_resource(event):
    expect(event.hook_id == RESOURCE and event.version == 2, "no resource event")
    expect(len(event.data) == 0x30, "0x%x: 0x%x bytes", event.offset, len(event.data))
    return Resource(*struct.unpack("<QQQIIQII", event.data))


def decode_resources(buffers):
    return [decode_resource(event) for event in events_in_order_of_time(buffers, RESOURCE)]


def callers_with_records(buffers):
    """Pairs of a CALLER event's data and the record behind it. A stack of a block may be between.
    """
    last_by_processor = {}
    for buffer in buffers[1:]:
        for event in buffer.events:
            if event.hook_id == BLOCK_STACK:
                continue
            # The CALLER event may be the last one of the buffer before.
            last = last_by_processor.get(buffer.processor)
            last_by_processor[buffer.processor] = event
            if last and last.hook_id == CALLER and last.time_stamp == event.time_stamp:
                expect(last.version == 2 and len(last.data) == 0x38, "0x%x: caller", last.offset)
                yield Caller(*struct.unpack("<QQQQQQQ", last.data)), decode_resource(event)


def decode_context_swap(event):
    """The record of a CONTEXTSWAP event, in any version."""
    expect(event.hook_id == CONTEXTSWAP and 1 <= event.version <= 4, "no context swap")
    expect(len(event.data) == (0x10 if event.version == 1 else 0x18), "0x%x: 0x%x bytes",
           event.offset, len(event.data))
    if event.version == 1:
        return ContextSwap(*struct.unpack("<IIbbBbBBBB", event.data), 0, 0)
    return ContextSwap(*struct.unpack("<IIbbBbBBBBIi", event.data))


def decode_ready_thread(event):
    """The record of a READY_THREAD event, as Microsoft's page "ReadyThread class" has it."""
    expect(event.hook_id == READY_THREAD and event.version == 2, "no ReadyThread event")
    expect(len(event.data) == 8, "0x%x: 0x%x bytes", event.offset, len(event.data))
    *fields, reserved = struct.unpack("<Ibbbb", event.data)
    expect(not reserved, "0x%x: reserved byte", event.offset)
    return ReadyThread(*fields)


def decode_stack_walk(event):
    """The record of a STACKWALK event, of 64-bit addresses."""
    expect(event.hook_id == STACKWALK and event.version == 2, "no stack")
    addresses = len(event.data) - 0x10
    expect(addresses > 0 and addresses % 8 == 0 and addresses // 8 <= 64, "0x%x: 0x%x bytes",
           event.offset, len(event.data))
    return StackWalk(*struct.unpack_from("<QII", event.data),
                     struct.unpack_from("<%dQ" % (addresses // 8), event.data, 0x10))


def groups_with_stacks(event):
    expect(event.hook_id in (STACKS_DC_START, STACKS_DC_END) and event.version == 1,
           "no rundown of stacks")
    expect(len(event.data) == 4, "0x%x: 0x%x bytes", event.offset, len(event.data))
    stacks, = struct.unpack("<I", event.data)
    expect(stacks < 8, "0x%x: stacks 0x%x", event.offset, stacks)
    return [hook_id for bit, hook_id in ((1, CONTEXTSWAP), (2, SPINLOCK), (4, RESOURCE))
            if stacks & bit]


def events_with_stacks(buffers):
    """Return [(event, the stack that directly follows it on its processor, or None)], and the other
    stacks.
    """
    pairs, without = [], []
    for processor in sorted({buffer.processor for buffer in buffers[1:]}):
        before = None
        for buffer in sorted((b for b in buffers[1:] if b.processor == processor),
                             key=lambda buffer: buffer.sequence):
            for event in buffer.events:
                if event.hook_id != STACKWALK:
                    pairs.append((event, None))
                    before = event
                    continue
                stack = decode_stack_walk(event)
                if before and before.time_stamp == stack.event_time_stamp:
                    pairs[-1] = before, stack
                else:
                    without.append(stack)
                before = None
    return pairs, without


def decode_lock_list(data):
    expect(len(data) >= 8, "%d bytes are no RTL_PROCESS_LOCKS", len(data))
    count, padding = struct.unpack_from("<II", data, 0)
    expect(len(data) == 8 + 0x30 * count and not padding, "%d bytes for %d locks",
           len(data), count)
    found = []
    for at in range(8, len(data), 0x30):
        expect(not any(data[at + 0x0C:at + 0x10]), "0x%x: padding", at)
        found.append(Lock(*struct.unpack_from("<QHH4xQiIIiII", data, at)))
    return found


def check_file(buffers, recorder=False):
    """Return the TRACE_LOGFILE_HEADER of a session that has stopped, or of a snapshot. @recorder:
    the session is a flight recorder.
    """
    header = logfile_header(buffers)
    expect(header.mode == (0x02000400 if recorder else 0x02000001), "mode 0x%x", header.mode)
    expect(header.version == 0x0501000A, "version 0x%x", header.version)
    expect(header.pointer_size == 8, "not 64-bit")
    expect(header.clock_type == CLOCK_TYPE, "clock type %d", header.clock_type)
    # ntklog knows the processor's frequency on x86 only, where it is that of the clock.
    expect(header.mhz == (header.perf_freq // 10**6 if CLOCK_TYPE == 3 else 0), "%d MHz",
           header.mhz)
    expect(header.buffer_size == buffers[0].size, "buffer size")
    expect(header.buffers_written == len(buffers), "%d buffers, the header says %d",
           len(buffers), header.buffers_written)
    expect(header.start_time <= header.end_time or recorder and not header.end_time,
           "end before start")
    sequences = sorted(buffer.sequence for buffer in buffers[1:])
    if recorder:
        expect(len(set(sequences)) == len(sequences), "sequence numbers %s", sequences)
        expect(header.buffers_lost == sequences[-1] - len(sequences), "%d buffers lost, of %s",
               header.buffers_lost, sequences)
    else:
        expect(sequences == list(range(1, len(buffers))), "sequence numbers %s", sequences)
        expect(not header.buffers_lost, "%d buffers lost", header.buffers_lost)
    for processor in {buffer.processor for buffer in buffers[1:]}:
        buffers_of_processor = [buffer for buffer in buffers[1:] if buffer.processor == processor]
        numbers = [buffer.sequence for buffer in buffers_of_processor]
        expect(numbers == sorted(numbers), "cpu%d: buffers out of sequence", processor)
        for earlier, later in zip(buffers_of_processor, buffers_of_processor[1:]):
            expect(not later.events or
                   earlier.events[-1].time_stamp <= later.events[0].time_stamp,
                   "cpu%d: time goes back between buffers", processor)
    for buffer in buffers[1:]:
        expect(buffer.clock_type == CLOCK_TYPE and buffer.frequency == header.perf_freq, "clock")
        expect(buffer.start_time == header.start_time, "start time")
    last = [buffer for buffer in buffers[1:] if buffer.flags & 1]
    expect(last == buffers[-1:], "the last buffer, and no other, has the flush marker")
    return header
