# SPDX-License-Identifier: GPL-2.0-only
"""Records and files with planted truth, for the tests of the answer of ntklog report."""

import json

import etl_writer as etl
import tool
from tool import run_tool

# Nanoseconds of a tick: the cycles of these files are the ticks of their clock.
NS = 1e9 / etl.PERF_FREQ
BASE = etl.START_CLOCK

LOCK = 0xFFFF888012345678
HOLDER = 0xFFFFFFFF81000101
OTHER = 0xFFFFFFFF81000201
WAITER = 0xFFFFFFFF81000301

NAMES = """\
ffffffff81000100 t holds_long
ffffffff81000200 t holds_too
ffffffff81000300 t waits_long
ffffffff81000400 T schedule
ffffffff81000500 t p9_client_rpc
ffffffff81000600 t walks_pages
ffffffff81000700 T up_write
ffff888012345678 d my_lock
ffff888012345900 d inner_lock
thread 55 holder
thread 56 waiter
thread 57 bystander
"""


def spin_event(acquire, release, wait=0, caller=HOLDER, late=0, **changes):
    """Times are ticks from BASE on. LATE: from the release until the record is written."""
    return etl.perfinfo(0x0529, etl.spin_lock(
        **{"address": LOCK, "caller": caller, "acquire": BASE + acquire, "release": BASE + release,
           "wait": wait, "spins": 1 if wait else 0, "flags": 1, "interrupts": 0, **changes}),
        time_stamp=BASE + release + late)


def sleeping_event(acquire, release, wait=0, thread=55, kind="mutex", action=0x22, **changes):
    return etl.linux_lock_event(kind, action, time_stamp=BASE + release, **{
        "address": LOCK, "acquire": BASE + acquire, "hold": release - acquire, "wait": wait,
        "thread": thread, "delta": 1, **changes})


def switch_event(at, old, new, state=5, wait_time=0):
    return etl.perfinfo(0x0524, etl.context_swap_data(new=new, old=old, state=state,
                                                      wait_time=wait_time),
                        version=4, time_stamp=BASE + at)


def held_event(at, state="held", since=1000, **changes):
    return etl.open_hold_event(BASE + at, state,
                               **{"address": LOCK, "since": BASE + since, "thread": 55,
                                  "caller": HOLDER, **changes})


def waiting_event(at, since=3000, thread=56, **changes):
    return held_event(at, "waits", since, thread=thread, caller=WAITER, **changes)


def stack_event_of(event_at, *addresses, thread=55):
    return etl.stack_event(BASE + event_at, addresses, thread=thread)


RATES = (etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0, blockers=1),
         etl.resource_rundown(1, 1))


class Case(tool.Case):
    def setUp(self):
        super().setUp()
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write(NAMES)

    def write_events(self, *events):
        self.write(etl.file(*RATES, *events))

    def report(self, *options):
        result = run_tool("report", *options, self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def parts_of_answer(self, *events):
        if events:
            self.write_events(*events)
        answer = json.loads(self.report("--json"))["answer"]
        parts = {name: round(ns / NS) for name, ns in answer["parts_ns"].items() if ns}
        self.assertEqual(sum(parts.values()), round(answer["wait_total_ns"] / NS))
        return parts

    def blocker_charges(self, *options):
        rows = json.loads(self.report("--json", *options))["blockers"]
        return {(row["lock"], row["waiter"], row["holder"]): round(row["charged_total_ns"] / NS)
                for row in rows}
