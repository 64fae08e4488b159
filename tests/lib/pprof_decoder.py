# SPDX-License-Identifier: GPL-2.0-only
"""Decode pprof's profiles: the fields that ntklog uses."""

import gzip

from protobuf_wire import decode_fields, values_by_field, last_value_by_field, decode_packed_numbers


class Profile:
    """samples: [(functions from the innermost on, {value: number}, {label: text or number})]
    types: [(name, unit)] of the values; default: the name of the default value
    """

    def __init__(self, data):
        parts = values_by_field(gzip.decompress(data))
        self.texts = [text.decode() for text in parts[6]]
        functions = {f[1]: self.texts[f[2]] for f in map(last_value_by_field, parts.get(5, []))}
        self.types = [(self.texts[t[1]], self.texts[t[2]])
                      for t in map(last_value_by_field, parts[1])]
        self.places, self.addresses = {}, {}
        for place in map(last_value_by_field, parts.get(4, [])):
            self.places[place[1]] = functions[last_value_by_field(place[4])[1]]
            self.addresses[place[1]] = place.get(3, 0)
        self.default = self.texts[parts[14][0]]
        self.time = parts[9][0] if 9 in parts else 0
        self.duration = parts[10][0] if 10 in parts else 0
        self.comments = [self.texts[index]
                         for index in decode_packed_numbers(b"".join(parts.get(13, [])))]
        self.samples = [self.decode_sample(data) for data in parts.get(2, [])]

    def decode_sample(self, data):
        places, values, labels = [], [], {}
        for number, value in decode_fields(data):
            if number == 1:
                places += decode_packed_numbers(value)
            elif number == 2:
                values += decode_packed_numbers(value)
            else:
                label = last_value_by_field(value)
                labels[self.texts[label[1]]] = self.texts[label[2]] if 2 in label else \
                    label.get(3, 0)
        return ([self.places[place] for place in places],
                {name: value for (name, _), value in zip(self.types, values)}, labels)
