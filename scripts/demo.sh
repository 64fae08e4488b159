#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# demo.sh: from nothing to NT's lock events of a real, contended workload in
# Debian's own kernel, in a virtual machine. Files end in out/demo/.

. "$(dirname "$0")/lib.sh"

DEMO=$OUT/demo

say "setting up: packages (tools only) and Debian's kernel (unpacked in $CACHE, not installed)"
need_tool
eval "$("$TOP/scripts/debian-kernel.sh")"

say "building the modules for $ABI, and the tool"
"$TOP/scripts/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
quietly tool make -C "$TOP/tools/ntklog"
rm -rf "$DEMO"
mkdir -p "$DEMO"
cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI/workload/ntklog_torture.ko" "$DEMO/"
cp "$TOP/scripts/demo-guest.sh" "$DEMO/guest.sh"

say "booting $ABI in QEMU (emulated, two processors)"
"$TOP/scripts/vm.sh" -v -t 180 -k "$IMAGE" -M "$MODULES" "$DEMO"

cd "$DEMO"
rm -f guest.sh status
# Let the guest's last lines come first.
sleep 0.5
ntklog=$TOP/tools/ntklog/ntklog
"$ntklog" dump trace.etl >trace.etl.txt
printf '\n== The first events of trace.etl: tools/ntklog/ntklog dump trace.etl\n'
for event in SpinLockDCStart ResourceDCStart SpinLock Resource; do
	grep -m 4 " $event " trace.etl.txt
done
printf '\n== Summary of trace.etl\n'
sort kallsyms >kallsyms.sorted
awk -f "$TOP/scripts/summary.awk" kallsyms.sorted - <trace.etl.txt
mv kallsyms.sorted kallsyms
awk '/^# cat .*stats/ { getline; getline; getline; getline
	printf "%d events generated, %d written, %d lost\n", $2, $3, $4; exit }' guest.log
printf '\nFiles in %s:\n' "$DEMO"
printf '  %-18s %s\n' \
	trace.etl "the session's events, as Windows' tools read them" \
	trace.etl.txt "the same, decoded by ntklog dump" \
	trace-sampled.etl "the session with contention_sample_rate 100" \
	trace.dat "spin locks as trace-cmd recorded them (trace-cmd report trace.dat)" \
	trace.txt "the same as text" \
	resource.dat "resources as trace-cmd recorded them" \
	resource.txt "the same as text" \
	kallsyms "symbols of the workload's module" \
	guest.log "what was typed and seen in the virtual machine" \
	console.log "the kernel's messages"
say "done"
