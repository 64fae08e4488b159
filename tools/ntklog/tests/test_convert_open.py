#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog convert: holds and waits that had not ended, in Perfetto's traces and in profiles."""

import etl_writer as etl
import perfetto_decoder
import pprof_decoder
import tap
from answer_case import BASE, LOCK, NAMES, NS, held_event, sleeping_event, waiting_event
from convert_case import Case


class Open(Case):
    """Task 55 has held the lock for 8000 ticks, after a wait of 500. Task 56 waits for it."""

    BEGIN = etl.open_hold_event(BASE + 9000)
    LIST = [BEGIN, held_event(9000, wait=500), waiting_event(9000)]

    def setUp(self):
        super().setUp()
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write(NAMES)

    def read_converted(self, how, decoder, *events, options=()):
        self.convert(how, etl.file(etl.resource_rundown(1, 1), *events), 0, *options)
        with open(self.out, "rb") as stream:
            return decoder(stream.read())

    def slices_by_category(self, *events, options=()):
        slices = self.read_converted("--perfetto", perfetto_decoder.Trace, *events,
                                     options=options).slices
        return sorted((made["cat"], made["name"], round(made["ts"] * 1000 / NS) - BASE,
                       round(made["dur"] * 1000 / NS), made["args"].get("caller"))
                      for made in slices)

    def test_perfetto_shows_what_had_not_ended_up_to_the_end(self):
        self.assertEqual(self.slices_by_category(*self.LIST), [
            ("class_wait", "holder 55", 500, 500, None),
            ("class_wait", "waiter 56", 3000, 6000, None),
            ("hold", "my_lock", 1000, 8000, "holds_long+0x1"),
            ("wait", "wait: my_lock", 500, 500, None),
            ("wait", "wait: my_lock", 3000, 6000, "waits_long+0x1")])
        self.assertEqual([made["args"].get("open") for made in self.read_converted(
            "--perfetto", perfetto_decoder.Trace, self.LIST[0], self.LIST[2]).slices
            if made["cat"] == "wait"], [True])

    def test_a_filter_selects_open_waits(self):
        slices = self.slices_by_category(*self.LIST, options=("--filter", "thread == 56"))
        self.assertEqual([made[:3] for made in slices],
                         [("class_wait", "waiter 56", 3000), ("wait", "wait: my_lock", 3000)])

    def test_a_later_release_or_list_replaces_an_entry(self):
        self.assertEqual([made[2:4] for made in self.slices_by_category(
            *self.LIST, sleeping_event(1000, 9500)) if made[0] == "hold"], [(1000, 8500)])
        self.assertEqual(self.slices_by_category(*self.LIST, etl.open_hold_event(BASE + 9900)), [])

    def test_profiles_have_the_waits(self):
        samples = self.read_converted("--pprof", pprof_decoder.Profile, *self.LIST).samples
        waits = {labels["tid"]: (values["contentions"], round(values["delay"] / NS), stack)
                 for stack, values, labels in samples if values["contentions"]}
        self.assertEqual(waits, {55: (1, 500, ["holds_long"]), 56: (1, 6000, ["waits_long"])})
        self.assertEqual({labels["class"] for _, _, labels in samples}, {"my_lock"})
        self.assertEqual({values["acquisitions"] for _, values, _ in samples}, {0})


if __name__ == "__main__":
    tap.main()
