#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# demo.sh: record contended workloads on Debian's own kernel in a virtual machine. Files are left in
# out/demo/.

. "$(dirname "$0")/../lib.sh"

. "$TOP/scripts/progress.sh"

DEMO=$OUT/demo

begin_stages 190

say "setting up: packages (tools only) and Debian's kernel (unpacked in $CACHE, not installed)"
install_groups tool
eval "$("$TOP/scripts/kernels/debian-kernel.sh")"

say "building the modules for $ABI, and the tool"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
run_quietly tool make -C "$TOP/tools/ntklog"
rm -rf "$DEMO"
mkdir -p "$DEMO"
cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_torture,tests/modules/stale_code}.ko "$DEMO/"
cp "$TOP/scripts/demo/demo-guest.sh" "$DEMO/guest.sh"

say "booting $ABI in QEMU (emulated, two processors)"
"$TOP/scripts/vm/vm.sh" -v -k "$IMAGE" -M "$MODULES" -P "$TOP/tools/ntklog/ntklog" "$DEMO"

end_progress
cd "$DEMO"
rm -f guest.sh status
# vm.sh -v prints guest.log by tail. Leave it time for the last lines.
sleep 0.5
ntklog=$TOP/tools/ntklog/ntklog
"$ntklog" dump trace.etl >trace.etl.txt
printf '\n== The first events of trace.etl: tools/ntklog/ntklog dump trace.etl\n'
for event in SpinLockDCStart ResourceDCStart SpinLock Resource ContextSwap; do
	grep -m 2 " $event " trace.etl.txt
done
printf '\n== The sampled one has fewer, and estimates the same: ntklog report trace-sampled.etl\n'
"$ntklog" report trace-sampled.etl --table locks --top 3
printf '\n== What trace.etl says: ntklog report trace.etl\n'
"$ntklog" report trace.etl --top 8
"$ntklog" report trace.etl --html report.html
"$ntklog" report linux-stacks.etl --html linux.html
"$ntklog" report linux-stacks.etl --folded >linux-stacks.folded
printf '\nFiles in %s:\n' "$DEMO"
printf '  %-18s %s\n' \
	sleeping.etl "locks that sleep, with stacks and context switches: who held the lock, and why" \
	linux.etl "Linux' spin locks and rwlocks" \
	linux.html "spin locks as a page: classes, and flame graphs of their waits and holds" \
	linux-stacks.etl "its events, with a stack each" \
	linux-stacks.folded "the waits' stacks as programs that draw flame graphs take them" \
	report.html "the report of NT's locks as a page with pictures" \
	trace.etl "the session's events, as Windows' tools read them" \
	trace.etl.names "names of the symbols and threads in it" \
	trace.etl.txt "the same, decoded by ntklog dump" \
	trace-sampled.etl "a session with contention_sample_rate 100" \
	trace-debugfs.etl "one that cat has read from debugfs" \
	trace.dat "spin locks as trace-cmd recorded them (trace-cmd report trace.dat)" \
	trace.txt "the same as text" \
	resource.dat "resources as trace-cmd recorded them" \
	resource.txt "the same as text" \
	guest.log "what was typed and seen in the virtual machine" \
	console.log "the kernel's messages"
say "done"
