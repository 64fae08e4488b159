# SPDX-License-Identifier: GPL-2.0-only
#
# Sums up the output of `ntklog dump` by lock. Given first: lines of the
# machine's /proc/kallsyms, sorted, so that locks have names.

function hex(text,    value, i)
{
	value = 0
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}

# The symbol at or before an address of 16 digits, which sort as they count.
function symbol(address,    i, found)
{
	for (i = 1; i <= symbols; i++)
		if (symbol_address[i] <= address)
			found = i
	if (!found)
		return "?"
	return sprintf("%s+0x%x", symbol_name[found],
		       hex(substr(address, 5)) - hex(substr(symbol_address[found], 5)))
}

function value(name,    i)
{
	for (i = 4; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return 0
}

FILENAME != "-" {
	symbol_address[++symbols] = $1
	symbol_name[symbols] = $3
	next
}

$3 == "SpinLock" {
	lock = substr(value("SpinLockAddress"), 3)
	hold = value("ReleaseTime") - value("AcquireTime")
	wait = value("WaitTimeInCycles") + 0
	events++
	count[lock]++
	contended[lock] += value("SpinCount") > 0
	if (wait > longest_wait[lock])
		longest_wait[lock] = wait
	if (hold > longest_hold[lock])
		longest_hold[lock] = hold
}

$3 == "Resource" && /Action=release_/ {
	resource = substr(value("Resource"), 3)
	shared = value("Action") == "release_shared"
	releases[resource]++
	shared_releases[resource] += shared
	contentions[resource] += value("ContentionDelta")
	waited[resource] += value("WaitTime") > 1
	if (value("WaitTime") + 0 > longest_resource_wait[resource])
		longest_resource_wait[resource] = value("WaitTime") + 0
	if (value("HoldTime") + 0 > longest_resource_hold[resource])
		longest_resource_hold[resource] = value("HoldTime") + 0
}

$3 == "Resource" {
	resource_events++
	actions[value("Action")]++
}

END {
	printf "%-18s %-22s %8s %10s %14s %14s\n", "lock", "symbol", "events",
	       "contended", "longest wait", "longest hold"
	for (lock in count)
		printf "0x%s %-22s %8d %10d %14d %14d\n", lock, symbol(lock),
		       count[lock], contended[lock], longest_wait[lock],
		       longest_hold[lock] | "sort"
	close("sort")
	printf "%d spin lock events in the file; times in TSC cycles\n\n", events
	printf "%-18s %8s %8s %8s %10s %14s %14s\n", "resource", "releases",
	       "shared", "waited", "contention", "longest wait", "longest hold"
	for (resource in releases)
		printf "0x%s %8d %8d %8d %10d %14d %14d\n", resource,
		       releases[resource], shared_releases[resource],
		       waited[resource], contentions[resource],
		       longest_resource_wait[resource],
		       longest_resource_hold[resource] | "sort"
	close("sort")
	printf "%d resource events in the file:", resource_events
	for (action in actions)
		printf " %d %s", actions[action], action
	printf "\n"
}
