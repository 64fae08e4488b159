#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Load recordings of a made-up fleet into ClickHouse by contrib/clickhouse, and check what each of
its queries says.

Usage: check_clickhouse.py NTKLOG DIRECTORY [HOSTS]

Each host has a recording before and one after 2026-11-20, with planted differences: see
write_recording().
DIRECTORY is for the server's data and the recordings.
"""

import glob
import os
import socket
import struct
import subprocess
import sys
import time
import unittest

import etl_writer as etl
import tap

CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../contrib/clickhouse")
NTKLOG, DIRECTORY = (os.path.abspath(path) for path in sys.argv[1:3])
HOSTS = int(sys.argv[3]) if len(sys.argv) > 3 else 1000

# FILETIMEs of 2026-11-10 and 2026-11-25, 12:00 UTC.
BEFORE, AFTER = (116444736000000000 + 10_000_000 * seconds for seconds in (1794312000, 1795608000))

COMMON_LOCK, UNEVEN_LOCK, NEW_LOCK = 0xFFFF888000000010, 0xFFFF888000000020, 0xFFFF888000000030
MUTEX = 0xFFFF888000000040
CLASSES = {COMMON_LOCK: "dentry.d_lockref.lock", UNEVEN_LOCK: "uneven_lock", NEW_LOCK: "new_lock"}
# The host with the longest wait for the mutex, that with much waiting for UNEVEN, and a lossy one.
SLOW_HOST, DIFFERENT_HOST, LOSSY_HOST = 3, 7, 5

CONFIG_XML = """<yandex>
<logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog></logger>
<tcp_port>{1}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><mark_cache_size>5368709</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database>
</yandex>"""
USERS_XML = """<yandex><profiles><default/></profiles><users><default><password/>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
</default></users><quotas><default/></quotas></yandex>"""


def spin_event(address, wait_ms):
    """The clock has 2000 ticks a millisecond."""
    return etl.perfinfo(0x0529, etl.spin_lock(address=address, acquire=1_000_000, release=1_000_200,
                                              wait=2000 * wait_ms, spins=1))


def write_recording(directory, host, is_after):
    events = [etl.spinlock_rundown(1, 1, 1, 0), etl.resource_rundown(1, 1),
              spin_event(COMMON_LOCK, 1 if is_after else 2),
              spin_event(UNEVEN_LOCK, 100 if host == DIFFERENT_HOST else 1),
              etl.linux_lock_event("mutex", address=MUTEX, hold=2000,
                                   wait=2000 * (900 if host == SLOW_HOST and is_after else 3))]
    if is_after:
        events.append(spin_event(NEW_LOCK, 4))
    data = etl.file(*events)
    start = struct.pack("<q", 132_000_000_000_000_000)
    assert data.count(start) == 1
    data = data.replace(start, struct.pack("<q", AFTER if is_after else BEFORE))
    if host == LOSSY_HOST and is_after:
        at = data.index(struct.pack("<IIII", 1, 8, 0, 2000)) + 8
        data = data[:at] + struct.pack("<I", 17) + data[at + 4:]
    path = os.path.join(directory, "host%04d.etl" % host)
    with open(path, "wb") as stream:
        stream.write(data)
    with open(path + ".names", "w", encoding="utf-8") as stream:
        for address, name in CLASSES.items():
            stream.write("lock %x %s\n" % (address, name))


class Server:

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.home = os.path.join(DIRECTORY, "server")
        for name in "data", "tmp":
            os.makedirs(os.path.join(self.home, name))
        for name, text in ("config.xml", CONFIG_XML.format(self.home, self.port)), \
                ("users.xml", USERS_XML):
            with open(os.path.join(self.home, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        self.client = "clickhouse-client --host 127.0.0.1 --port %d" % self.port
        with open(os.path.join(self.home, "output"), "wb") as output:
            # The server's program is not in the path of an ordinary user.
            self.process = subprocess.Popen(
                ["clickhouse-server", "--config-file=" + os.path.join(self.home, "config.xml")],
                stdout=output, stderr=output,
                env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin", "TZ": "UTC"})
        while self.process.poll() is None and not self.is_ready():
            time.sleep(0.2)
        assert self.process.poll() is None, "clickhouse-server ended: see " + self.home

    def is_ready(self):
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self.port)) == 0

    def run_query(self, text):
        result = subprocess.run([*self.client.split(), "--multiquery"], input=text, text=True,
                                capture_output=True, check=False)
        assert result.returncode == 0, result.stderr
        return [line.split("\t") for line in result.stdout.splitlines()]

    def load_recordings(self, *paths):
        return subprocess.run([os.path.join(CONTRIB, "load.sh"), *paths], check=False, text=True,
                              capture_output=True,
                              env={**os.environ, "NTKLOG": NTKLOG, "CLICKHOUSE_CLIENT": self.client})


def read_contrib_file(name):
    with open(os.path.join(CONTRIB, name), encoding="utf-8") as stream:
        return stream.read()


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.process.wait)
        cls.addClassCleanup(cls.server.process.terminate)
        cls.paths = []
        for name, is_after in ("before", False), ("after", True):
            cls.paths.append(os.path.join(DIRECTORY, name))
            os.makedirs(cls.paths[-1])
            for host in range(HOSTS):
                write_recording(cls.paths[-1], host, is_after)
        cls.server.run_query(read_contrib_file("tables.sql"))
        begin = time.monotonic()
        for path in cls.paths:
            result = cls.server.load_recordings(path)
            assert result.returncode == 0, result.stderr
        print("# %d recordings loaded in %.1f s" % (2 * HOSTS, time.monotonic() - begin))
        cls.answers, cls.seconds = {}, {}
        for path in sorted(glob.glob(os.path.join(CONTRIB, "queries", "*.sql"))):
            begin = time.monotonic()
            name = os.path.basename(path)[3:-4]
            cls.answers[name] = cls.server.run_query(read_contrib_file(path))
            cls.seconds[name] = time.monotonic() - begin
            print("# %s: %.2f s" % (name, cls.seconds[name]))
        size, = cls.server.run_query("SELECT sum(bytes_on_disk), sum(rows) FROM system.parts "
                                     "WHERE database = 'ntklog' AND active")
        print("# %s bytes on disk, %s rows" % tuple(size))

    def test_locks_are_ordered_by_the_waiting_of_all_hosts(self):
        rows = self.answers["top-locks"]
        mutex_ms = 3 * (2 * HOSTS - 1) + 900
        self.assertEqual([row[:4] for row in rows], sorted([
            ["0x%x" % MUTEX, "mutex", str(HOSTS), "%g" % (mutex_ms / 1000)],
            ["new_lock", "spin lock", str(HOSTS), "%g" % (4 * HOSTS / 1000)],
            ["dentry.d_lockref.lock", "spin lock", str(HOSTS), "%g" % (3 * HOSTS / 1000)],
            ["uneven_lock", "spin lock", str(HOSTS), "%g" % ((2 * HOSTS + 198) / 1000)]],
            key=lambda row: -float(row[3])))
        self.assertEqual(rows[0][5], "900")

    def test_holders_have_the_waiting_that_is_charged_to_them(self):
        rows = self.answers["top-holders"]
        charged = {}
        for lock, _, _, seconds, _ in rows:
            charged[lock] = charged.get(lock, 0) + float(seconds)
        self.assertAlmostEqual(charged["new_lock"], 4 * HOSTS / 1000, places=2)

    def test_hosts_are_ordered_by_their_waiting(self):
        rows = self.answers["top-hosts"]
        self.assertEqual([row[0] for row in rows[:2]],
                         ["host%04d" % SLOW_HOST, "host%04d" % DIFFERENT_HOST])
        self.assertEqual(rows[0][1], "2")

    def test_host_that_differs_is_found(self):
        rows = self.answers["hosts-that-differ"]
        self.assertEqual([row[:2] for row in rows],
                         [["0x%x" % MUTEX, "host%04d" % SLOW_HOST],
                          ["uneven_lock", "host%04d" % DIFFERENT_HOST]]
                         if float(rows[0][4]) > 100 else
                         [["uneven_lock", "host%04d" % DIFFERENT_HOST],
                          ["0x%x" % MUTEX, "host%04d" % SLOW_HOST]])

    def test_a_change_of_the_fleet_is_seen_in_both_directions(self):
        rows = {row[0]: [float(cell) for cell in row[1:]]
                for row in self.answers["before-and-after"]}
        before, after, difference = rows["dentry.d_lockref.lock"]
        self.assertAlmostEqual(before, 2 * after, places=5)
        self.assertLess(difference, 0)
        self.assertEqual(rows["new_lock"][0], 0)
        self.assertGreater(rows["new_lock"][2], 0)
        self.assertAlmostEqual(rows["uneven_lock"][2], 0, places=5)

    def test_query_of_new_locks_has_the_new_lock_alone(self):
        self.assertEqual(self.answers["new-locks"],
                         [["new_lock", "spin lock", str(HOSTS), "%g" % (4 * HOSTS / 1000)]])

    def test_a_lock_has_a_row_for_each_day(self):
        rows = self.answers["one-lock-by-day"]
        self.assertEqual([row[:2] + row[3:] for row in rows],
                         [["2026-11-10", str(HOSTS), "2"], ["2026-11-25", str(HOSTS), "1"]])

    def test_the_longest_wait_names_its_recording(self):
        self.assertEqual(self.answers["longest-waits"][0],
                         ["host%04d" % SLOW_HOST, "2026-11-25 12:00:00", "0x%x" % MUTEX, "mutex",
                          "900"])

    def test_the_longest_hold_is_first(self):
        rows = self.answers["longest-holds"]
        self.assertEqual(rows[0][2:], ["0x%x" % MUTEX, "mutex", "1"])

    def test_recordings_with_losses_are_named(self):
        self.assertEqual([row[:2] + row[4:] for row in self.answers["incomplete-recordings"]],
                         [["host%04d" % LOSSY_HOST, "2026-11-25 12:00:00", "17", "0", "0", "0"]])

    def test_recordings_loaded_twice_count_once(self):
        again = os.path.join(self.paths[0], "host%04d.etl" % SLOW_HOST)
        before = self.server.run_query(read_contrib_file("queries/01-top-locks.sql"))
        self.assertEqual(self.server.load_recordings(again).returncode, 0)
        self.assertEqual(self.server.run_query(read_contrib_file("queries/01-top-locks.sql")),
                         before)

    def test_a_file_that_cannot_be_read_is_an_error_and_the_others_are_loaded(self):
        path = os.path.join(DIRECTORY, "one")
        os.makedirs(path)
        write_recording(path, 9999, True)
        result = self.server.load_recordings(os.path.join(path, "host9999.etl"),
                                             os.path.join(DIRECTORY, "missing.etl"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("missing.etl", result.stderr)
        count = "SELECT count() FROM ntklog.recordings WHERE host = 'host9999'"
        self.assertEqual(self.server.run_query(count), [["1"]])

    def test_a_client_that_fails_is_an_error(self):
        client, self.server.client = self.server.client, "false"
        self.addCleanup(setattr, self.server, "client", client)
        self.assertNotEqual(self.server.load_recordings(self.paths[0]).returncode, 0)


if __name__ == "__main__":
    del sys.argv[1:]
    tap.main()
