# SPDX-License-Identifier: GPL-2.0-only
"""Decode pprof's profiles: the fields that ntklog uses."""

import gzip

from protobuf_wire import fields, lists, message, numbers


class Profile:
    """samples: [(functions from the innermost on, {value: number}, {label: text or number})]
    types: [(name, unit)] of the values; default: the name of the default value
    """

    def __init__(self, data):
        parts = lists(gzip.decompress(data))
        self.texts = [text.decode() for text in parts[6]]
        functions = {f[1]: self.texts[f[2]] for f in map(message, parts.get(5, []))}
        self.types = [(self.texts[t[1]], self.texts[t[2]]) for t in map(message, parts[1])]
        self.places, self.addresses = {}, {}
        for place in map(message, parts.get(4, [])):
            self.places[place[1]] = functions[message(place[4])[1]]
            self.addresses[place[1]] = place.get(3, 0)
        self.default = self.texts[parts[14][0]]
        self.time = parts[9][0] if 9 in parts else 0
        self.duration = parts[10][0] if 10 in parts else 0
        self.comments = [self.texts[index] for index in numbers(b"".join(parts.get(13, [])))]
        self.samples = [self.sample(data) for data in parts.get(2, [])]

    def sample(self, data):
        places, values, labels = [], [], {}
        for number, value in fields(data):
            if number == 1:
                places += numbers(value)
            elif number == 2:
                values += numbers(value)
            else:
                label = message(value)
                labels[self.texts[label[1]]] = self.texts[label[2]] if 2 in label else \
                    label.get(3, 0)
        return ([self.places[place] for place in places],
                {name: value for (name, _), value in zip(self.types, values)}, labels)
