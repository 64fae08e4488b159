#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog exporter on sessions like the module's."""

import http.client
import os
import re
import signal
import socket
import time
import urllib.error

import etl_writer as etl
import tap
from exporter_case import ExporterCase, lock_address, parse_samples

TICK = 1 / etl.PERF_FREQ


class Metrics(ExporterCase):
    def test_a_contended_lock_is_named_with_its_holder(self):
        self.log_events(self.spin_event(3, 1000, 9000, caller=1),
                        self.spin_event(3, 9000, 9100, wait=6000, caller=2))
        self.start_exporter()
        found = self.scrape_after_update()
        labels = ("spinlock", "class_3")
        self.assertEqual(found["ntklog_lock_acquisitions_total", *labels], 1009 + 1)
        self.assertEqual(found["ntklog_lock_contended_acquisitions_total", *labels], 1)
        self.assertEqual(found["ntklog_lock_wait_seconds_count", *labels], 1)
        self.assertAlmostEqual(found["ntklog_lock_wait_seconds_sum", *labels], 6000 * TICK)
        self.assertAlmostEqual(found["ntklog_lock_hold_seconds_sum", *labels],
                               (8000 * 1009 + 100) * TICK)
        charged = {key[3]: value for key, value in found.items()
                   if key[0] == "ntklog_lock_charged_wait_seconds_total"}
        self.assertEqual(list(charged), ["function_1"])
        self.assertAlmostEqual(charged["function_1"], 6000 * TICK)

    def test_histograms_have_fixed_bounds(self):
        self.log_events(self.spin_event(0, 1000, 1020, wait=9, rule=2),
                        self.spin_event(0, 5000, 5020, wait=90000, rule=2))
        self.start_exporter()
        found = self.scrape_after_update()
        buckets = {key[3]: value for key, value in found.items()
                   if key[0] == "ntklog_lock_wait_seconds_bucket"}
        self.assertEqual(list(map(float, buckets)),
                         [250e-9, 1e-6, 4e-6, 16e-6, 64e-6, 256e-6, .001024, .004096, .016384,
                          .065536, .262144, 1.048576, 4.194304, float("inf")])
        self.assertEqual(list(buckets.values()), [0] * 2 + [0] + [1] * 6 + [2] * 5)

    def test_locks_have_kinds_and_no_addresses(self):
        self.log_events(self.spin_event(0, 1000, 1100, flags=0x10),
                        etl.linux_lock_event("mutex", wait=40),
                        etl.linux_lock_event("rwsem", address=lock_address(1)),
                        etl.linux_lock_event("rwsem", 0x42, address=lock_address(1)))
        self.start_exporter()
        found = self.scrape_after_update()
        self.assertEqual(
            {key[1:]: value for key, value in found.items()
             if key[0] == "ntklog_lock_acquisitions_total"},
            {("rwlock", "class_0"): 1009, ("mutex", "unnamed"): 1, ("rwsem", "class_1"): 2})
        self.assertNotRegex(self.get_page()[1], "0x[0-9a-f]")

    def test_both_formats_have_their_content_type_and_the_same_series(self):
        self.log_events(self.spin_event(0, 1000, 9000), self.spin_event(0, 9000, 9100, wait=6000))
        self.start_exporter()
        self.scrape_after_update()
        headers, text = self.get_page()
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        headers, text = self.get_page(headers={"Accept": "application/openmetrics-text"})
        self.assertEqual(headers["Content-Type"],
                         "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(text.endswith("\n# EOF\n"))
        self.assertEqual({key[:3] for key in parse_samples(text, openmetrics=True)},
                         {key[:3] for key in self.scrape()})

    def test_counters_grow_and_series_stay(self):
        self.log_events(self.spin_event(0, 1000, 1100))
        self.start_exporter("--top", "8")
        before = self.scrape_after_update()
        for turn in range(3):
            self.append_events(*(self.spin_event(turn * 10 + number, 2000, 2100, wait=5)
                                 for number in range(1, 10)))
            after = self.scrape_after_update()
            self.assertLessEqual(set(before), set(after))
            for key, value in before.items():
                if key[0].endswith(("_total", "_bucket", "_count", "_sum")):
                    self.assertGreaterEqual(after[key], value, key)
            before = after
        classes = {key[2]: value for key, value in before.items()
                   if key[0] == "ntklog_lock_acquisitions_total"}
        self.assertEqual(len(classes), 9)
        self.assertEqual(classes["class_0"], 1009)
        self.assertEqual(classes["other"], 3 * 9 - 7)
        self.assertEqual(before["ntklog_lock_series", "classes"], 8)

    def test_locks_without_waits_leave_half_of_the_series(self):
        self.log_events(*(self.spin_event(number, 1000, 1100) for number in range(20)))
        self.start_exporter("--top", "8")
        self.assertEqual(self.scrape_after_update()["ntklog_lock_series", "classes"], 4)
        self.append_events(self.spin_event(70, 2000, 2100, wait=5))
        self.assertIn(("ntklog_lock_acquisitions_total", "spinlock", "class_70"),
                      self.scrape_after_update())

    def test_holders_are_those_of_the_kind_of_lock(self):
        """Locks of two kinds have one class."""
        def event(kind, begin, end, wait):
            return etl.linux_lock_event(
                kind, address=lock_address(0), acquire=etl.START_CLOCK + begin, hold=end - begin,
                wait=wait, delta=1, thread=55 + bool(wait), time_stamp=etl.START_CLOCK + end)

        self.log_events(event("mutex", 1000, 2000, 0), event("mutex", 2000, 2100, 400),
                        event("semaphore", 3000, 4000, 0), event("semaphore", 4000, 4100, 90))
        self.start_exporter()
        charged = {key[1:3]: round(value / TICK)
                   for key, value in self.scrape_after_update().items()
                   if key[0] == "ntklog_lock_charged_wait_seconds_total"}
        self.assertEqual(charged, {("mutex", "class_0"): 400, ("semaphore", "class_0"): 90})

    def test_holders_are_limited(self):
        self.log_events(*(event for number in range(1, 7) for event in (
            self.spin_event(0, number * 10000, number * 10000 + 8000, caller=number),
            self.spin_event(0, number * 10000 + 8000, number * 10000 + 8100, wait=1000 * number,
                            caller=7))))
        self.start_exporter("--top", "2")
        charged = {key[3]: round(value / TICK) for key, value in self.scrape_after_update().items()
                   if key[0] == "ntklog_lock_charged_wait_seconds_total"}
        self.assertEqual(charged, {"function_6": 6000, "function_5": 5000, "other": 10000})

    def test_a_change_of_rates_divides_the_sums(self):
        self.log_events(self.spin_event(0, 1000, 1100))
        self.start_exporter()
        self.scrape_after_update()
        self.set_parameter("spinlock/acquire_sample_rate", 5000)
        self.append_events(etl.spinlock_rundown(acquire=1009, end=True),
                           etl.spinlock_rundown(acquire=5000), self.spin_event(0, 2000, 2100))
        self.assertEqual(self.scrape_after_update()["ntklog_lock_acquisitions_total", "spinlock",
                                                    "class_0"],
                         1009 + 5000)

    def test_two_changes_of_rates_in_an_interval_are_weighted(self):
        self.log_events(*(event for number, rate in enumerate((10, 5000, 1009)) for event in (
            etl.spinlock_rundown(acquire=rate, time_stamp=etl.START_CLOCK + number * 1000 + 500),
            self.spin_event(0, number * 1000 + 600, number * 1000 + 700))))
        self.start_exporter()
        self.assertEqual(self.scrape_after_update()["ntklog_lock_acquisitions_total", "spinlock",
                                                    "class_0"],
                         10 + 5000 + 1009)

    def test_lost_events_are_counted_by_reason(self):
        self.log_events(self.spin_event(0, 1000, 1100))
        self.start_exporter()
        self.write_session_file(7, "stats", "total 50 46 4 0 0 0\n")
        self.write_counters(Suppressed=10, Untracked=2 ** 32 + 8, BlockersDropped=12)
        with open(os.path.join(self.directory, "identities"), "a", encoding="ascii") as stream:
            stream.write("missed 3 replaced 5\n")
        found = self.scrape_after_update()
        self.assertEqual({key[1]: value for key, value in found.items()
                          if key[0] == "ntklog_events_lost_total"},
                         {"no_space": 4, "suppressed": 6, "untracked": 2, "limited": 10,
                          "damaged": 0})
        self.assertEqual(found["ntklog_events_total",], 50)
        self.assertEqual(found["ntklog_class_notes_lost_total",], 5)

    def test_damaged_events_are_left_out_and_counted(self):
        good = self.spin_event(0, 1000, 1100)
        bad = etl.perfinfo(0x0529, etl.spin_lock(acquire=1000, release=1 << 62))
        late = etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=1 << 60)
        self.log_events(good, bad, good)
        self.start_exporter()
        for count, events in enumerate(([], [good, bad, late, good])):
            self.append_events(*events)
            found = self.scrape_after_update()
            self.assertEqual((found["ntklog_lock_acquisitions_total", "spinlock", "class_0"],
                              found["ntklog_events_lost_total", "damaged"]),
                             (2 * 1009 * (1 + count), 1 + 2 * count))
        error = self.end_exporter()
        self.assertEqual(error.count("such events are left out"), 1, error)

    def test_a_missing_buffer_does_not_stop_the_sums(self):
        self.log_events(self.spin_event(0, 1000, 1100))
        self.start_exporter()
        self.sequence += 5
        self.append_events(self.spin_event(1, 2000, 2100))
        self.scrape_after_update()
        found = self.scrape_after_update()
        self.assertEqual(found["ntklog_lock_acquisitions_total", "spinlock", "class_1"], 1009)
        self.assertEqual(found["ntklog_buffers_lost_total", "missing"], 5)
        # A number that comes later than the others opens no gap.
        self.sequence -= 4
        self.append_events(self.spin_event(1, 2000, 2100))
        self.sequence += 3
        self.append_events(self.spin_event(1, 3000, 3100))
        found = self.scrape_after_update()
        self.assertEqual(found["ntklog_lock_acquisitions_total", "spinlock", "class_1"], 3 * 1009)
        self.assertEqual(found["ntklog_buffers_lost_total", "missing"], 5)

    def test_build_and_settings_are_metrics(self):
        self.log_events(self.spin_event(0, 1000, 1100))
        self.start_exporter("--mode", "waits", "--top", "3", budget="97.5%")
        found = self.scrape()
        self.assertIn(("ntklog_build_info",
                       re.search(r"\S+$", self.run_tool("--version").stdout)[0]),
                      found)
        self.assertEqual(found["ntklog_recording_mode", "waits"], 1)
        self.assertEqual(found["ntklog_recording_mode", "full"], 0)
        self.assertEqual(found["ntklog_recording_group", "linux_mutex"], 1)
        self.assertEqual(found["ntklog_sampling_rate", "spinlock_acquire"], 1009)
        self.assertEqual(found["ntklog_overhead_budget_ratio",], .975)
        self.assertEqual(found["ntklog_lock_series_limit",], 3)


class Budget(ExporterCase):
    """Simulated loads: the module's counters, and the events that a session has generated."""

    def setUp(self):
        super().setUp()
        self.log_events(self.spin_event(0, 1000, 1100))
        self.cpus = os.cpu_count()

    def log_load_until(self, condition, acquisitions=0, events=0):
        """Log so many acquisitions and events for each CPU and interval, until the metrics meet the
        condition. On a slow machine an update comes later than after an interval.
        """
        before, last = self.scrape(), time.monotonic()
        for _ in range(300):
            now = time.monotonic()
            intervals = max((now - last) / self.INTERVAL, 1)
            last = now
            self.spins += int(acquisitions * self.cpus * intervals)
            self.events += int(events * self.cpus * intervals)
            self.write_counters(SpinLockAcquireCount=self.spins % 2 ** 32)
            self.write_session_file(7, "stats.part", "total %d 0 0 0 0 0\n" % self.events)
            os.rename(self.session_path(7, "stats.part"), self.session_path(7, "stats"))
            turn = self.read_update_count()
            self.wait_for(lambda: self.read_update_count() != turn)
            found = self.scrape()
            for key, value in before.items():
                if key[0].endswith("_total"):
                    self.assertGreaterEqual(found[key], value, key)
            if condition(found):
                return found
            before = found
        self.fail("the condition is not met, the last metrics are %s" % found)

    spins = events = 7

    @staticmethod
    def modes_in_use(found):
        return [key[1] for key, value in found.items() if key[0] == "ntklog_recording_mode" and value]

    def test_expensive_hooks_need_a_cheaper_mode_until_the_load_ends(self):
        self.start_exporter("--mode", "full", budget="80%")
        self.assertEqual(self.modes_in_use(self.scrape()), ["full"])
        found = self.log_load_until(lambda found: self.modes_in_use(found) == ["sampled"],
                                    acquisitions=3000000)
        self.assertEqual(found["ntklog_overhead_budget_changes_total", "down"], 1)
        self.assertGreater(found["ntklog_overhead_seconds_total", "hooks"], 0)
        self.assertEqual(self.read_file("linux_mode"), "sampled")
        found = self.log_load_until(lambda found: self.modes_in_use(found) == ["full"])
        self.assertEqual(found["ntklog_overhead_budget_changes_total", "up"], 1)
        error = self.end_exporter()
        self.assertRegex(error, r"overhead [0-9.]+%, budget 80.00%: recording less from now on: mode sampled")
        self.assertRegex(error, r"overhead [0-9.]+%, budget 80.00%: recording more from now on: mode full")

    def test_expensive_events_need_higher_rates_until_the_load_ends(self):
        self.start_exporter(budget="80%")
        rate = ("ntklog_sampling_rate", "spinlock_acquire")
        found = self.log_load_until(lambda found: found[rate] > 1009, events=1000000)
        self.assertGreaterEqual(found[rate], 1009 * 4)
        self.assertEqual(found["ntklog_sampling_rate", "resource_release"], found[rate])
        self.assertGreater(found["ntklog_sampling_rate", "spinlock_blockers"], 1)
        self.assertEqual(self.modes_in_use(found), ["sampled"])
        found = self.log_load_until(lambda found: found[rate] == 1009)
        self.assertEqual(self.read_file("spinlock/acquire_sample_rate"), "1009")
        self.assertGreaterEqual(found["ntklog_overhead_budget_changes_total", "up"], 1)
        self.end_exporter()

    def test_settings_are_restored_at_the_end(self):
        names = ["linux_mode", "spinlock/blockers", *self.PARAMETERS]
        before = {name: self.read_file(name).strip() for name in names}
        self.start_exporter("--mode", "waits", budget="80%")
        self.log_load_until(lambda found: found["ntklog_overhead_budget_changes_total", "down"],
                            events=1000000)
        self.assertEqual(self.read_file("linux_mode"), "waits")
        self.end_exporter()
        self.assertEqual({name: self.read_file(name).strip() for name in names}, before)

    def test_locks_that_sleep_are_left_out_last(self):
        self.start_exporter("--mode", "waits", budget="80%")
        self.log_load_until(lambda found: not found["ntklog_recording_group", "linux_mutex"],
                            events=300000000)
        self.assertEqual(self.groups_of_session(7),
                         "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK "
                         "PERF_LINUX_RWLOCK")
        self.end_exporter()


def make_fifo(path):
    try:
        os.mkfifo(path)
    except FileExistsError:
        return False
    return True


class Outputs(ExporterCase):
    def setUp(self):
        super().setUp()
        self.log_events(self.spin_event(0, 1000, 1100, wait=5))

    def test_textfile_is_replaced_and_removed(self):
        path = os.path.join(self.directory, "ntklog.prom")
        process = self.start_tool("exporter", "--textfile", path, "--interval", ".1",
                                  "--budget", "100%")

        def read_textfile():
            with open(path, encoding="utf-8") as stream:
                return parse_samples(stream.read())

        self.wait_for(lambda: os.path.exists(path) and read_textfile()["ntklog_updates_total",] > 2)
        self.assertEqual(read_textfile()["ntklog_lock_wait_seconds_count", "spinlock", "class_0"],
                         1)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o644)
        process.terminate()
        self.assertEqual(process.communicate(timeout=60)[1], b"")
        self.assertEqual(process.returncode, 0)
        self.assertEqual([name for name in os.listdir(self.directory) if "prom" in name], [])

    def test_file_of_another_process_stays(self):
        path = os.path.join(self.directory, "ntklog.prom")
        process = self.start_tool("exporter", "--textfile", path, "--interval", "60")
        self.wait_for(lambda: os.path.exists(path))
        with open(path + ".new", "w", encoding="ascii") as stream:
            stream.write("another\n")
        os.rename(path + ".new", path)
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)
        with open(path, encoding="ascii") as stream:
            self.assertEqual(stream.read(), "another\n")

    def test_fifo_in_place_of_the_unfinished_file_does_not_stop_the_command(self):
        path = os.path.join(self.directory, "ntklog.prom")
        process = self.start_tool("exporter", "--textfile", path, "--interval", ".1",
                                  "--budget", "100%")
        self.wait_for(lambda: os.path.exists(path))
        self.wait_for(lambda: make_fifo(path + ".part"))
        self.assertIn(b"ntklog.prom.part: No such device or address", process.stderr.readline())
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertFalse(os.path.exists(path))

    def test_other_pages_and_methods_have_their_http_status(self):
        self.start_exporter()
        self.assertIn('href="/metrics"', self.get_page("/")[1])
        headers, text = self.get_page(method="HEAD")
        self.assertGreater(int(headers["Content-Length"]), 1000)
        self.assertEqual(text, "")
        for path, method, status in ("/x", "GET", 404), ("/metrics", "POST", 405):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.get_page(path, method=method)
            self.assertEqual(caught.exception.code, status)
            caught.exception.close()
        with socket.create_connection(self.address.split(":")) as half:
            half.send(b"GET /metrics HTTP/1.1\r\nX: ")
            self.assertTrue(self.scrape_after_update())
        self.end_exporter()

    def request_type(self, connection, accept=(), path="/metrics"):
        connection.putrequest("GET", path)
        for value in accept:
            connection.putheader("Accept", value)
        connection.endheaders()
        response = connection.getresponse()
        response.read()
        self.assertFalse(response.will_close)
        return response.headers["Content-Type"].split(";")[0]

    def test_page_has_the_format_that_the_client_accepts(self):
        self.start_exporter()
        connection = http.client.HTTPConnection(self.address, timeout=60)
        self.addCleanup(connection.close)
        self.request_type(connection)
        first = connection.sock
        openmetrics = "application/openmetrics-text"
        for accept, expected in (
                ((), "text/plain"), ((openmetrics,), openmetrics), ((openmetrics.upper(),), openmetrics),
                ((openmetrics + ";version=1.0.0;q=0,text/plain",), "text/plain"),
                ((openmetrics + "; q=0.5 , text/plain;q=0.2",), openmetrics),
                ((openmetrics + ";q=0.5", "text/plain"), "text/plain"),
                (("text/plain;q=0.1", openmetrics), openmetrics),
                ((openmetrics + "-x, text/" + openmetrics,), "text/plain")):
            self.assertEqual(self.request_type(connection, accept), expected, accept)
        self.assertEqual(self.request_type(connection, path="/"), "text/html")
        self.assertIs(connection.sock, first)

    def test_clients_that_send_a_byte_now_and_then_lose_their_connections(self):
        self.start_exporter()
        clients = [socket.create_connection(self.address.split(":")) for _ in range(16)]
        begin = time.monotonic()
        while clients and time.monotonic() < begin + 300:
            for client in list(clients):
                try:
                    client.send(b"X")
                except OSError:
                    client.close()
                    clients.remove(client)
            time.sleep(.5)
        self.assertEqual(clients, [])
        self.assertGreater(time.monotonic(), begin + 5)
        self.assertTrue(self.scrape())
        self.end_exporter()

    def test_signals_stop_everything(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            self.start_exporter()
            self.assertEqual(self.read_session_file(7, "state"), "started\n")
            self.process.send_signal(number)
            self.process.communicate(timeout=60)
            self.assertEqual(self.process.returncode, 0)
            self.assertEqual(self.read_session_file(7, "state"), "stopped\n")

    def test_signal_while_the_start_attaches_stops_everything(self):
        self.write_session_file(7, "slow_start", "")
        process = self.start_tool("exporter", "--listen", self.address)
        self.wait_for(lambda: os.path.exists(self.session_path(7, "is_starting")))
        process.terminate()
        self.assertIn(b"interrupted while it started", process.communicate(timeout=600)[1])
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")
        self.assertEqual(self.read_file("linux_mode"), "full")

    def test_signal_before_the_start_restores_everything(self):
        symbols = os.path.join(self.proc, "kallsyms")
        os.remove(symbols)
        os.mkfifo(symbols)
        process = self.start_tool("exporter", "--listen", self.address)
        with open(symbols, "w", encoding="ascii"):
            process.terminate()
        self.assertIn(b"interrupted while it started", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")
        self.assertEqual((self.read_file("linux_mode"),
                          self.read_file("spinlock/acquire_sample_rate").strip()),
                         ("full", "1000"))

    def test_closed_standard_error_does_not_end_the_exporter(self):
        process = self.start_tool("exporter", "--listen", self.address, "--interval", ".1")
        process.stderr.close()
        self.wait_for(self.read_update_count)
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(self.read_file("linux_mode"), "full")


class Errors(ExporterCase):
    def check_failure(self, *arguments, status=1):
        self.log_events(self.spin_event(0, 1000, 1100))
        result = self.run_tool("exporter", *arguments)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")
        self.assertEqual(self.read_file("linux_mode").strip(), "full")
        return result.stderr

    def test_wrong_option_values_are_refused(self):
        for option, value, words in (
                ("--budget", "0.5", 'is not a percentage of up to 100%, such as 0.5%'),
                ("--budget", "0%", "is not a percentage"), ("--budget", "101%", "is not a percentage"),
                ("--budget", "nan%", "is not a percentage"), ("--budget", "x", "is not a percentage"),
                ("--listen", "10529", "is not ADDRESS:PORT, such as 127.0.0.1:10529"),
                ("--listen", "localhost:10529", "is not ADDRESS:PORT"),
                *(("--listen", "127.0.0.1:" + port, "is not ADDRESS:PORT")
                  for port in ("", "0", "-1", "+80", " 80", "80x", "65536", "99999", "9" * 30)),
                ("--interval", "0", "is not 0.1 seconds or more"),
                ("--interval", "inf nite", "is not 0.1 seconds or more"),
                ("--top", "0", "is not 1 to 10000"), ("--top", "10001", "is not 1 to 10000"),
                ("--mode", "most", "is not full, sampled or waits"),
                ("--events", "spinlock_counters", "has no events")):
            self.assertIn(words, self.check_failure(option, value, status=2))

    def test_port_in_use_is_reported(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = "127.0.0.1:%d" % other.getsockname()[1]
            self.assertEqual(self.check_failure("--listen", address),
                             "ntklog: cannot listen on %s: Address already in use: end the other program, or "
                             "choose another port\n" % address)

    def test_address_of_another_machine_is_refused(self):
        self.assertIn("cannot listen on 192.0.2.1:10529: ",
                      self.check_failure("--listen", "192.0.2.1:10529"))

    def test_unwritable_file_is_reported(self):
        self.assertEqual(self.check_failure("--textfile", "/nonexistent/x.prom"),
                         "ntklog: /nonexistent/x.prom.part: No such file or directory\n")

    def test_textfile_that_is_no_regular_file_is_refused_and_stays(self):
        for name, make in (("fifo", os.mkfifo), ("directory", os.mkdir),
                           ("link", lambda path: os.symlink("linux_mode", path))):
            path = os.path.join(self.directory, name)
            make(path)
            self.assertEqual(self.check_failure("--textfile", path),
                             "ntklog: %s: not a regular file: choose another name (--textfile)\n" % path)
            self.assertTrue(os.path.lexists(path))
        os.mkfifo(os.path.join(self.directory, "x.part"))
        self.assertIn("x.part: No such device or address", self.check_failure(
            "--textfile", os.path.join(self.directory, "x")))

    def test_start_that_fails_leaves_the_file_as_it_is(self):
        self.write_file("x.prom", "precious\n")
        self.write_session_file(7, "fail_start", "1\n")
        self.check_failure("--textfile", os.path.join(self.directory, "x.prom"))
        self.assertEqual(self.read_file("x.prom"), "precious\n")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "x.prom.part")))

    def test_missing_module_is_reported(self):
        result = self.run_tool("exporter",
                               env={**self.make_environment(), "NTKLOG_DEBUGFS": "/nonexistent"})
        self.assertEqual((result.returncode, result.stderr),
                         (1, "ntklog: /nonexistent: No such file or directory\n"))

    def test_module_without_modes_is_refused(self):
        os.remove(os.path.join(self.directory, "linux_mode"))
        self.log_events(self.spin_event(0, 1000, 1100))
        result = self.run_tool("exporter", "--listen", self.address)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "ntklog: mode sampled: the loaded module has no modes: load a newer one\n"))

    def test_start_that_is_refused_restores_the_settings(self):
        self.write_session_file(7, "fail_start", "1\n")
        self.assertIn("session 7: cannot be started: Operation not permitted\n",
                      self.check_failure("--listen", self.address))
        self.assertEqual(self.read_file("spinlock/acquire_sample_rate").strip(), "1000")

    def test_second_exporter_is_refused(self):
        """It would put back the settings of the first one, and remove its file."""
        names = ["linux_mode", "spinlock/blockers", *self.PARAMETERS]
        before = {name: self.read_file(name).strip() for name in names}
        path = os.path.join(self.directory, "metrics.prom")
        self.log_events(self.spin_event(0, 1000, 1100))
        self.start_exporter("--mode", "waits", "--textfile", path)
        for options in ("--textfile", path), ("--listen", self.address), ("--mode", "full"):
            result = self.run_tool("exporter", *options)
            self.assertEqual((result.returncode, result.stderr), (
                1, "ntklog: another ntklog exporter changes the module's settings: stop it first "
                "(systemctl stop ntklog-exporter)\n"))
        self.assertTrue(os.path.exists(path))
        self.assertEqual(self.read_file("linux_mode"), "waits")
        self.end_exporter()
        self.assertEqual({name: self.read_file(name).strip() for name in names}, before)
        self.start_exporter("--mode", "waits")
        # The lock ends with the process, as a session of the module does, but not the settings.
        self.process.kill()
        self.process.wait()
        self.write_session_file(7, "state", "stopped\n")
        for name in names:
            self.set_parameter(name, before[name])
        self.start_exporter("--mode", "waits")
        self.end_exporter()
        self.assertEqual({name: self.read_file(name).strip() for name in names}, before)

    def test_library_that_cannot_be_loaded_has_a_remedy(self):
        self.write_file("libmicrohttpd.so.12", "no library")
        result = self.run_tool("exporter", "--listen", self.address,
                               env={**self.make_environment(), "LD_LIBRARY_PATH": self.directory})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "^ntklog: --listen needs a library: .*libmicrohttpd.so.12: .*: "
                         "install libmicrohttpd12, or use --textfile\n$")

    def test_start_without_a_free_session_changes_no_rate(self):
        for number in range(8):
            self.write_session_file(number, "owner", "123\n")
        result = self.run_tool("exporter", "--listen", self.address)
        self.assertEqual(result.returncode, 1)
        self.assertIn("session", result.stderr)
        self.assertEqual(self.read_file("spinlock/acquire_sample_rate").strip(), "1000")


if __name__ == "__main__":
    tap.main()
