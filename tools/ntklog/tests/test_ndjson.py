#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report --ndjson: lines for programs that collect the rows of many machines."""

import json
import os
import re
import struct

import jsonschema

import etl_writer as etl
import tap
import tool
from tool import run_tool

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
SCHEMA = os.path.join(TOP, "tools/ntklog/schema/report-rows.json")
SAMPLES = [os.path.join(TOP, "Documentation/examples", name)
           for name in ("sample.etl", "sample-stacks.etl")]
COMMON = ["schema", "table", "host", "start", "seconds", "row"]


def read_schema():
    with open(SCHEMA, encoding="utf-8") as stream:
        return json.load(stream)


def fields_of_schema():
    return {part["if"]["properties"]["table"]["const"]:
            {name: value["$ref"].split("/")[-1]
             for name, value in part["then"]["properties"].items()}
            for part in read_schema()["allOf"]}


class Ndjson(tool.Case):
    def spin_event(self, address, wait):
        return etl.perfinfo(0x0529, etl.spin_lock(
            address=address, acquire=1000, release=1100, wait=wait, spins=1))

    def ndjson_rows(self, *arguments, status=0):
        result = run_tool("report", "--ndjson", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_each_line_is_as_the_schema_says(self):
        check = jsonschema.Draft7Validator(read_schema()).validate
        lines = self.ndjson_rows(*SAMPLES, self.write_trace("m.etl", etl.linux_lock_event("mutex"),
                                                            self.spin_event(0x10, 200)))
        self.assertEqual({line["table"] for line in lines} -
                         {"recordings", "locks", "callers", "resources", "blockers", "stacks",
                          "threads", "processors"}, set())
        for line in lines:
            check(line)
        with self.assertRaises(jsonschema.ValidationError):
            check({**lines[0], "schema": 2})
        with self.assertRaises(jsonschema.ValidationError):
            check({**lines[0], "events": "many"})

    def test_schema_has_every_column_with_its_kind(self):
        tables, columns = {}, None
        for line in run_tool("report", "--columns", "help", SAMPLES[0]).stdout.splitlines():
            title = re.match(r"(\w+): ", line)
            column = re.match(r"  (\w+) +(\w+) ", line)
            if title:
                columns = tables.setdefault(title[1], {})
            # Each line has the host, whatever its table.
            elif column and column[1] != "host":
                columns[column[1] + "_ns" * (column[2] == "time")] = column[2]
        schema = fields_of_schema()
        del schema["recordings"]
        # A point of time may be before the recording.
        self.assertEqual(schema["longest"].pop("at_ns"), "moment")
        self.assertEqual(tables["longest"].pop("at_ns"), "time")
        self.assertEqual(schema, tables)

    def test_wait_before_the_recording_is_as_the_schema_says(self):
        path = self.write_trace("early.etl", etl.linux_lock_event(
            "mutex", acquire=etl.START_CLOCK + 1000, hold=1000, wait=5000,
            time_stamp=etl.START_CLOCK + 2000))
        lines = self.ndjson_rows("--table", "longest", path)
        self.assertLess(min(line["at_ns"] for line in lines if "at_ns" in line), 0)
        for line in lines:
            jsonschema.Draft7Validator(read_schema()).validate(line)

    def test_rows_are_those_of_json_with_host_and_start(self):
        path = SAMPLES[0]
        lines = self.ndjson_rows(path)
        one = json.loads(run_tool("report", "--json", path).stdout)
        for name in "locks", "callers", "resources", "threads", "processors":
            rows = [{key: value for key, value in line.items() if key not in COMMON}
                    for line in lines if line["table"] == name]
            self.assertCountEqual(rows, one[name], name)
        header = json.loads(run_tool("info", "--json", path).stdout)["Header"]
        start = header["StartTime"][:19].replace(" ", "T") + "Z"
        self.assertEqual({(line["host"], line["start"], line["seconds"]) for line in lines},
                         {("sample", start, one["seconds"])})

    def test_recording_without_rows_has_a_line(self):
        path = self.write_trace("quiet.etl")
        with open(path, "r+b") as stream:
            data = stream.read()
            # Behind BuffersWritten: StartBuffers, PointerSize, EventsLost, CpuSpeed.
            stream.seek(data.index(struct.pack("<IIII", 1, 8, 0, 2000)) + 8)
            stream.write(struct.pack("<I", 5))
        line, = self.ndjson_rows(path)
        self.assertEqual((line["table"], line["host"], line["events"], line["events_lost"],
                          line["buffers_lost"]), ("recordings", "quiet", 2, 5, 0))

    def test_columns_chosen_by_the_user_keep_their_host(self):
        paths = [self.write_trace("a.etl", self.spin_event(0x10, 100)),
                 self.write_trace("b.etl", self.spin_event(0x20, 300))]
        lines = self.ndjson_rows("--columns", "wait_total", "--table", "locks", *paths)[2:]
        self.assertEqual([(line["host"], set(line) - set(COMMON)) for line in lines],
                         [("b", {"wait_total_ns"}), ("a", {"wait_total_ns"})])
        lines = self.ndjson_rows("--top", "1", "--table", "locks", *paths)
        self.assertEqual([line["host"] for line in lines], ["a", "b", "b"])

    def test_hosts_whose_names_are_no_utf8_get_different_names(self):
        paths = [self.write_trace(name, self.spin_event(0x10, wait))
                 for name, wait in (("a.etl", 100), ("b\udcfc.etl", 200), ("b\udcfd.etl", 300))]
        lines = self.ndjson_rows("--table", "locks", *paths)
        self.assertEqual([line["host"] for line in lines if line["table"] == "recordings"],
                         ["a", "b? #2", "b? #3"])
        self.assertEqual([(line["host"], line["row"]) for line in lines[3:]],
                         [("b? #3", 1), ("b? #2", 1), ("a", 1)])

    def test_locks_of_one_name_have_rows_with_different_numbers(self):
        path = self.write_trace("twice.etl", self.spin_event(0x10, 100), self.spin_event(0x20, 300))
        with open(path + ".names", "w", encoding="utf-8") as stream:
            stream.write("0000000000000010 d lock\n0000000000000020 d lock\n")
        lines = self.ndjson_rows("--table", "locks", path)[1:]
        self.assertEqual([(line["lock"], line["row"]) for line in lines],
                         [("lock", 1), ("lock", 2)])

    def test_unreadable_file_is_named_and_has_no_line(self):
        good, bad = self.write_trace("good.etl",
                                     self.spin_event(0x10, 100)), self.directory.name + "/no.etl"
        lines = self.ndjson_rows("--table", "locks", good, bad, status=1)
        self.assertEqual({line["host"] for line in lines}, {"good"})
        self.assertIn(bad + ": ", run_tool("report", "--ndjson", bad, good).stderr)

    def test_ndjson_with_another_format_is_refused(self):
        for option in "--json", "--csv", "--html=x", "--folded":
            result = run_tool("report", "--ndjson", option, SAMPLES[0])
            self.assertEqual(result.returncode, 2)
            self.assertIn("only one of --json, --ndjson, --csv, --html and --folded",
                          result.stderr)


if __name__ == "__main__":
    tap.main()
