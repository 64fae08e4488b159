# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# A task ends while the session runs, and one calls exec. Both write to one file, so that they wait
# for its lock.

. ./linux_lib.sh

insmod ntklog.ko
echo 1 >$R/release_sample_rate
mkdir -p /tmp/cgroup
check "tasks: the cgroups can be mounted" mount -t cgroup2 none /tmp/cgroup
cat >/tmp/writer <<'END'
echo $$ >/tmp/cgroup/$1.scope/cgroup.procs
echo $$ >/tmp/$1.pid
while read -r line; do
	:
done </proc/self/maps
[ $1 = ends ] || exec dd if=/dev/zero of=/tmp/shared conv=notrunc bs=256k count=60
dd if=/dev/zero of=/tmp/shared conv=notrunc bs=256k count=60
: >/dev/null
END
cat >/tmp/writers <<'END'
sh /tmp/writer ends 2>/dev/null &
sh /tmp/writer execs 2>/dev/null &
wait
rmdir /tmp/cgroup/ends.scope /tmp/cgroup/execs.scope
END
record_writers()
{
	mkdir -p /tmp/cgroup/ends.scope /tmp/cgroup/execs.scope
	ntklog record -b 256K -n 64 -o tasks.etl -e linux_mutex,linux_rwsem -- sh /tmp/writers \
		2>tasks.log
	cat tasks.log
	ntklog report --table blockers --by cgroup --csv --top 0 tasks.etl >tasks.csv 2>/dev/null
	[ -s tasks.etl.names ]
}
tasks_waited_for_each_other()
{
	cat tasks.csv
	grep -q '/ends.scope.*/execs.scope' tasks.csv && grep -q '/execs.scope.*/ends.scope' tasks.csv
}
# record_writers_that_wait: record two writers, and test that each waited for the other. If a CPU
# stalls, one writer may be done before the other one begins.
record_writers_that_wait()
{
	record_writers && tasks_waited_for_each_other
}
check "tasks: record two processes of two cgroups" repeat_until record_writers_that_wait
check "tasks: every task has a name" sh -c "! grep 'have no name' tasks.log"

# names_file_has_task NAME ID PROCESS CGROUP: test that tasks.etl.names has this task.
names_file_has_task()
{
	grep "^thread $2[@ ]" tasks.etl.names
	grep -q "^thread $2\(@[0-9]*\)\? $1$(printf '\t')$3$(printf '\t')$4\$" tasks.etl.names
}
check "tasks: the process that ended has its cgroup" \
	names_file_has_task sh "$(cat /tmp/ends.pid)" "$(cat /tmp/ends.pid)" /ends.scope
check "tasks: the process that called exec has the name before" \
	names_file_has_task sh "$(cat /tmp/execs.pid)" "$(cat /tmp/execs.pid)" /execs.scope
check "tasks: the process that called exec has the name after, from a time on" \
	grep "^thread $(cat /tmp/execs.pid)@[0-9]* dd$(printf '\t')" tasks.etl.names

# print_column_sum COLUMN TABLE OPTION...: print the sum of a column, divided by 100.
print_column_sum()
{
	column=$1
	table=$2
	shift 2
	ntklog report --csv --columns "$column" --table "$table" "$@" tasks.etl 2>/dev/null |
		awk -F, '{ gsub(/"/, ""); sum += $NF } END { printf "%.0f\n", sum / 100 }'
}
parts_sum_to_total()
{
	for by in process cgroup thread; do
		is "$(print_column_sum wait_total waiters --by $by)" \
				"$(print_column_sum wait_total waiters)" &&
			is "$(print_column_sum charged_total blockers --by $by)" \
				"$(print_column_sum charged_total blockers)" || return 1
	done
	[ "$(print_column_sum wait_total waiters)" -gt 0 ]
}
check "tasks: the sums by process and by cgroup are those of the plain tables" parts_sum_to_total
check "tasks: the cgroups have waited for each other" tasks_waited_for_each_other
check "tasks: a filter takes the events of one cgroup" sh -c \
	"ntklog dump --filter 'cgroup == /ends.scope' tasks.etl | grep -q ThreadId=$(cat /tmp/ends.pid)"

mkdir /tmp/cgroup/first.scope /tmp/cgroup/second.scope
cat >/tmp/writer <<'END'
echo $$ >/tmp/cgroup/$1.scope/cgroup.procs
while [ ! -e /tmp/enough ]; do
	dd if=/dev/zero of=/tmp/shared conv=notrunc bs=256k count=20
done
END
sh /tmp/writer first 2>/dev/null &
sh /tmp/writer second 2>/dev/null &
# top_json_has BY PATTERN...: test that the JSON of top --by BY has no lost events and each pattern.
top_json_has()
{
	by=$1
	shift
	ntklog top --once --json -d 2 -e linux_mutex,linux_rwsem --by $by >top-$by.json || return
	for pattern in '"events_lost":0[,}]' "$@"; do
		grep -q -- "$pattern" top-$by.json || return
	done
}
check "tasks: top --by cgroup tells who waited for whom" wait_for top_json_has cgroup \
	'"waiter":"/first.scope","holder":"/second.scope"' \
	'"waiter":"/second.scope","holder":"/first.scope"'
check "tasks: top --by process tells names" wait_for top_json_has process '"waiter":"[0-9]* dd"'
check "tasks: top --by stack tells functions" wait_for top_json_has stack \
	'"waiter":"[a-z0-9_]* < [^"]* < ' '"holder":"[a-z0-9_]* < [^"]* < '
touch /tmp/enough
wait
rmdir /tmp/cgroup/first.scope /tmp/cgroup/second.scope
umount /tmp/cgroup
rmmod ntklog
