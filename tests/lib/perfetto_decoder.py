# SPDX-License-Identifier: GPL-2.0-only
"""Decode Perfetto's traces, as far as ntklog uses them.

The numbers of the fields are those of Perfetto's published messages. They are repeated here,
because a decoder that reads ntklog's own .proto would not find a wrong number in it, and Debian 12
has no package with the published perfetto_trace.proto. That of August 2026, by which protoc decoded
four recordings in November 2026, knows each field.
"""

import struct

from protobuf_wire import values_by_field, last_value_by_field

# TrackEvent.Type
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
# TracePacket.SequenceFlags: the interned names are cleared before this packet; it needs them.
CLEARED, NEEDED = 1, 2


class Trace:
    """The tracks, slices and counters of a trace. Times are in microseconds since @start_ns.

    tracks: by number: (name, name of the group)
    slices: in the order of the packets that begin them; an instant has no duration
    counters: by name of the track: [(time, value)]
    flows: [(slice that begins the flow, slice that ends it)]
    packets: number of packets; resets: number of those that clear the names
    """

    def __init__(self, data, start_ns=0):
        self.names, self.tracks, self.counters, self.flows = {}, {}, {}, []
        self.packets, self.resets, self.slices = 0, 0, []
        self.start_ns = start_ns
        events = []
        for packet in values_by_field(data).get(1, []):
            self.packets += 1
            self.decode_packet(values_by_field(packet), events)
        # Events are sorted by time; events of the same time keep the order of their packets.
        events.sort(key=lambda event: event[0])
        self.open, self.begun = {}, {}
        for time, index, event in events:
            self.add_event(time, index, event)
        if any(self.open.values()):
            raise ValueError("a slice does not end")
        self.slices.sort(key=lambda made: made["index"])

    def decode_packet(self, packet, events):
        if packet.get(10) != [1]:
            raise ValueError("no sequence")
        (flags,) = packet.get(13, [0])
        if flags & CLEARED:
            self.names, self.resets = {}, self.resets + 1
        for data in packet.get(12, []):
            if not flags & NEEDED:
                raise ValueError("names are read only if the packet needs the state")
            self.add_names(values_by_field(data))
        for data in packet.get(60, []):
            track = last_value_by_field(data)
            parent = track.get(5)
            if parent is not None and parent not in self.tracks:
                raise ValueError("a track comes before its group")
            if track[1] in self.tracks:
                raise ValueError("two tracks have one number")
            self.tracks[track[1]] = (track[2].decode(), parent and self.tracks[parent][0])
        for data in packet.get(11, []):
            if not flags & NEEDED:
                raise ValueError("the event does not need the state")
            events.append((packet[8][0], len(events), self.resolve_event(values_by_field(data))))

    def add_names(self, interned):
        """Add the names of an InternedData. Fields: 1 categories, 2 names of events, 3 names of
        arguments, 5 functions, 6 frames, 7 call stacks, 17 paths of mappings, 19 mappings, 29 texts
        of arguments.
        """
        for field in 1, 2, 3:
            for data in interned.get(field, []):
                entry = last_value_by_field(data)
                self.names[field, entry[1]] = entry[2].decode()
        for field in 5, 17, 29:
            for data in interned.get(field, []):
                entry = last_value_by_field(data)
                self.names[field, entry[1]] = entry[2].decode()
        for data in interned.get(19, []):
            entry = last_value_by_field(data)
            self.names[19, entry[1]] = self.names[17, entry[7]]
        for data in interned.get(6, []):
            entry = last_value_by_field(data)
            if self.names[19, entry[3]] != "[kernel]":
                raise ValueError("a frame is not the kernel's")
            self.names[6, entry[1]] = self.names[5, entry[2]]
        for data in interned.get(7, []):
            entry = values_by_field(data)
            # A call stack has its innermost frame last; self.names has it first.
            self.names[7, entry[1][0]] = [self.names[6, frame] for frame in entry[2]][::-1]

    def decode_argument(self, data):
        entry = last_value_by_field(data)
        for field, made in ((2, bool), (3, int), (17, lambda value: self.names[29, value])):
            if field in entry:
                return self.names[3, entry[1]], made(entry[field])
        raise ValueError("an argument has no value")

    def resolve_event(self, event):
        """Resolve the names now: later packets may give their numbers to other names."""
        made = {"type": event[9][0], "track": event[11][0],
                "flows": event.get(47, []), "ends": event.get(48, [])}
        if 10 in event:
            made["name"] = self.names[2, event[10][0]]
            made["cat"] = self.names[1, event[3][0]]
            made["args"] = dict(self.decode_argument(data) for data in event.get(4, []))
        if 56 in event:
            made["stack"] = self.names[7, event[56][0]]
        if 44 in event:
            (made["value"],) = struct.unpack("<d", struct.pack("<Q", event[44][0]))
        return made

    def add_event(self, time, index, event):
        track, group = self.tracks[event["track"]]
        us = (time - self.start_ns) / 1000
        if event["type"] == COUNTER:
            self.counters.setdefault(track, []).append((us, event["value"]))
            return
        stack = self.open.setdefault(event["track"], [])
        if event["type"] in (BEGIN, INSTANT):
            made = {"name": event["name"], "cat": event["cat"], "args": event["args"],
                    "stack": event.get("stack"), "number": event["track"], "track": track,
                    "group": group, "ts": us, "index": index, "inside": len(stack)}
            for flow in event["flows"]:
                self.begun[flow] = made
            (stack if event["type"] == BEGIN else self.slices).append(made)
            return
        made = stack.pop()
        if made["index"] + 1 != index:
            raise ValueError("the end of another slice ends this one")
        made["dur"] = us - made["ts"]
        for flow in event["ends"]:
            self.flows.append((self.begun.pop(flow), made))
        self.slices.append(made)
