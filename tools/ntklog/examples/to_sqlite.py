#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put the events of a recording into a database of SQLite, a table for each kind of event.

Usage: to_sqlite.py FILE DATABASE

    sqlite3 DATABASE "SELECT ThreadId, count(*), max(WaitTimeInCycles) FROM SpinLock GROUP BY 1"
"""

import sqlite3
import sys

import ntklog


def to_integer(value):
    """SQLite's integers are signed; an address of the kernel becomes a negative number."""
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def insert_row(database, tables, name, row):
    """Insert a row. Versions of an event may have different fields, which become columns."""
    known = tables.setdefault(name, [])
    if not known:
        database.execute('CREATE TABLE "%s" (Time REAL, Cpu INTEGER)' % name)
        known += ["Time", "Cpu"]
    for column in row:
        if column not in known:
            database.execute('ALTER TABLE "%s" ADD COLUMN "%s"' % (name, column))
            known.append(column)
    database.execute('INSERT INTO "%s" ("%s") VALUES (%s)' % (
        name, '", "'.join(row), ", ".join("?" * len(row))), list(map(to_integer, row.values())))


def main():
    path, output = sys.argv[1:]
    database, tables = sqlite3.connect(output), {}
    with ntklog.open(path) as trace:
        for event in trace:
            fields = {key: value for key, value in dict(event).items() if key != "Stack"}
            if fields:
                insert_row(database, tables, event.name,
                           {"Time": event.time, "Cpu": event.cpu, **fields})
    database.commit()
    database.close()


main()
