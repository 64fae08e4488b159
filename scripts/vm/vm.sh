#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# vm.sh [OPTION]... SHARE: boot a kernel in QEMU, run SHARE/guest.sh there as root with the
# directory SHARE of the host as its working directory /host, and exit with the status of guest.sh.
# Its output is in SHARE/guest.log, the console in SHARE/console.log.
#
#	-k IMAGE	kernel image
#	-M DIRECTORY	the kernel's /lib/modules/ABI, if 9p is a module in it
#	-c CPUS		number of virtual CPUs (2)
#	-m MIB		memory (1024)
#	-t SECONDS	send an NMI to the guest after this time (3000); its kernel then panics and
#			prints all tasks and CPUs to the console. The time is long because a busy
#			host may run a virtual CPU for a tenth of the time only
#	-a WORDS	more kernel parameters
#	-P PROGRAM	one more program for the guest, in /bin; may be given again
#	-A ROOT		the kernel is another architecture's (arm64 or i386): take programs and
#			libraries from the Debian in ROOT (foreign-root.sh), and strip modules by the
#			program $STRIP
#	-i		count instructions: clocks and TSC advance by them, and the virtual CPUs run in
#			turn, because QEMU can only count so
#	-v		show the output of guest.sh while it runs
#
# QEMU emulates (TCG), because not every machine has KVM. Each virtual CPU is a thread of the
# host's. That needs stale_code.ko in SHARE, whose source says why.

. "$(dirname "$0")/../lib.sh"

cpus=2 memory=1024 limit=3000 image='' modules='' append='' thread=multi show='' icount=() programs=()
foreign='' machine=x86_64
while getopts k:M:c:m:t:a:P:A:iv option; do
	case $option in
	k) image=$OPTARG ;;
	M) modules=$OPTARG ;;
	c) cpus=$OPTARG ;;
	m) memory=$OPTARG ;;
	t) limit=$OPTARG ;;
	a) append=$OPTARG ;;
	P) programs+=("$OPTARG") ;;
	A) foreign=$OPTARG ;;
	i) icount=(-icount shift=0,sleep=off) thread=single ;;
	v) show=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
share=$(cd "${1:?usage: vm.sh [OPTION]... SHARE}" && pwd)
[ -f "$image" ] || die "no kernel image: $image"
[ -f "$share/guest.sh" ] || die "no guest.sh in $share"
# The image of an arm64 kernel has "ARMd" at byte 56. Other images are for x86.
[ "$(dd if="$image" bs=1 skip=56 count=4 2>/dev/null | tr -d '\0')" != ARMd ] || machine=aarch64
# stale_code.ko is for x86-64, so the CPUs of an i386 kernel run in turn.
[ $machine != x86_64 ] || [ -z "$foreign" ] || thread=single
[ "$thread" = single ] || [ -n "$foreign" ] || [ -f "$share/stale_code.ko" ] || die "no stale_code.ko in $share"

print_program_path()
{
	case $1 in
	/*) echo "$1" ;;
	*)
		if [ -n "$foreign" ]; then
			find "$foreign" -path "*bin/$1" -print -quit
		else
			command -v "$1"
		fi
		;;
	esac
}

copy_program()
{
	local file
	file=$(print_program_path "$1")
	install -D "$file" "$root/bin/$(basename "$1")"
	if [ -n "$foreign" ]; then
		copy_foreign_libraries "$file"
		return
	fi
	ldd "$file" | grep -o '/[^ ]*' | while read -r file; do
		install -D "$file" "$root$file"
	done
}

# ldd would execute the program, which this machine cannot.
copy_foreign_libraries()
{
	local name library
	readelf -Wld "$1" | sed -n 's,.*Requesting program interpreter: \(.*\)],\1,p
		s,.*(NEEDED).*\[\(.*\)],\1,p' | while read -r name; do
		[ ! -e "$root/lib/$(basename "$name")" ] || continue
		library=$(find "$foreign" -path "*/lib/*/$(basename "$name")" -print -quit)
		[ -n "$library" ] || die "no $name for $1 in $foreign"
		install -D "$(readlink -f "$library")" "$root/lib/$(basename "$name")"
		copy_foreign_libraries "$library"
	done
}

copy_modules()
{
	local abi name path dependency

	abi=$(basename "$modules")
	for name; do
		# A line of modules.dep has a module, a colon, and the modules that it needs.
		{ grep -E "/$name\\.ko[^:]*:" "$modules/modules.dep" || true; } |
			tr -d : | tr ' ' '\n' |
			while read -r path; do
				[ -n "$path" ] || continue
				install -D -m 0644 "$modules/$path" \
					"$root/lib/modules/$abi/$path"
			done
	done
	for dependency in modules.order modules.builtin modules.builtin.modinfo; do
		[ ! -f "$modules/$dependency" ] ||
			cp "$modules/$dependency" "$root/lib/modules/$abi/"
	done
	depmod -b "$root" "$abi"
}

# watch_guest SECONDS: the guest panics when its time is over, or when it stands still: SECONDS pass
# without its first write to $share/alive, or ten minutes without the next one. The wait is a read
# with a timeout, because a sleep would be a process that remains when this one is killed.
watch_guest()
{
	local end=$((SECONDS + limit)) idle=0 patience=$1

	while ((SECONDS < end && idle < patience)) && kill -0 $$ 2>/dev/null; do
		read -r -t 10 -u 9 || true
		[ ! -e "$share/alive" ] || idle=$((EPOCHSECONDS - $(stat -c %Y "$share/alive")))
		[ ! -s "$share/alive" ] || patience=600
	done
	say "the virtual machine has had its time, or stands still: it panics, to tell where"
	echo nmi >"$root/monitor.in"
}

# run_guest SECONDS: boot the guest under watch_guest SECONDS. Returns 0 if watch_guest() let it
# panic.
run_guest()
{
	rm -f "$share/alive"
	# With -i the guest does not write to alive: its clock jumps over idle time, so it would
	# wake up to write all the time.
	[ ${#icount[@]} -gt 0 ] || : >"$share/alive"
	watch_guest "$1" 6>&- 9<>"$root/never" &
	watch=$!
	timeout --foreground "$((limit + 120))" "${qemu[@]}" "${hardware[@]}" \
		-chardev "pipe,id=monitor,path=$root/monitor" -mon chardev=monitor \
		-accel "tcg,thread=$thread" "${icount[@]}" -m "$memory" -smp "$cpus" -nographic \
		-no-reboot -nodefaults -serial stdio -kernel "$image" \
		-initrd "$share/initramfs" \
		-virtfs "local,path=$share,mount_tag=host,security_model=none,multidevs=remap" \
		-append "$console panic=-1 loglevel=7 rcupdate.rcu_cpu_stall_timeout=300 watchdog_thresh=60 log_buf_len=4M panic_print=0x41 $append" \
		</dev/null >"$share/console.log" 2>&1 || true
	kill "$watch" 2>/dev/null || true
	wait "$watch" 2>/dev/null
}

install_groups vm
read -ra qemu < <("$TOP/scripts/vm/qemu.sh" $machine) || die "no QEMU"
root=$(mktemp -d)
watch=''
trap 'kill $watch 2>/dev/null || true; rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,sbin,proc,sys,dev,tmp,host,lib}
cp "$(print_program_path busybox)" "$root/bin/busybox"
copy_program trace-cmd
# BusyBox' modprobe does not unpack modules; Debian's own does.
copy_program kmod
for program in "${programs[@]}"; do
	copy_program "$program"
done
ln -s kmod "$root/bin/insmod"
ln -s kmod "$root/bin/rmmod"
ln -s kmod "$root/bin/lsmod"
ln -s ../bin/kmod "$root/sbin/modprobe"
[ -z "$modules" ] || copy_modules virtio_pci 9pnet_virtio 9p
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin:/sbin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir /dev/pts && mount -t devpts devpts /dev/pts
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
# Tests start kmemleak's scans.
[ ! -e /sys/kernel/debug/kmemleak ] || echo scan=off >/sys/kernel/debug/kmemleak
[ ! -d /lib/modules ] || modprobe -qa virtio_pci 9pnet_virtio 9p
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /host
cd /host
# The file never becomes empty again, so a guest in which a module of ours hangs is not booted again.
[ ! -e alive ] || echo >alive
[ ! -e stale_code.ko ] || insmod stale_code.ko
[ ! -e alive ] || while sleep 10; do echo >>alive; done &
sh ./guest.sh </dev/null >guest.log 2>&1
echo $? >/host/status
cat /sys/module/stale_code/parameters/count >/host/stale 2>/dev/null
sync
reboot -f
END
chmod +x "$root/init"
# A kernel with KCSAN would take longer to inflate the initramfs than to boot.
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$share/initramfs"
# An emulated kernel takes long to load debug information.
find "$share" -maxdepth 1 -name '*.ko' -exec "${STRIP:-strip}" --strip-debug {} +
rm -f "$share/status" "$share/stale"
: >"$share/guest.log"
if [ -n "$show" ]; then
	tail -f -s 0.2 --pid=$$ "$share/guest.log" &
fi

# Kernel parameters: pci=noacpi: ACPI interprets a program to find a device's interrupt, which takes
# so long on the KASAN kernel that it gives up mounting the share. no_timer_check: the kernel panics
# ("IO-APIC + timer doesn't work!") if ten ticks do not come in time, as on a busy host.
# tsc=nowatchdog: on a busy host the watchdog mistakes a delay of its own clock for an error of the
# TSC. tsc_early_khz: there the kernel's own measurement may be wrong by factors, and its clock with
# it. rcu_cpu_stall_timeout and watchdog_thresh: a busy host may stop a virtual CPU, which the
# kernel would report as a stall or a lockup. log_buf_len: the suites provoke more messages than a
# small kernel's buffer keeps. panic_print: all tasks (0x01) and the stacks of all CPUs (0x40).
case $machine in
x86_64)
	# With SMAP and SMEP, as on real CPUs, a wrong access of the kernel to a user's address
	# faults.
	hardware=(-cpu "qemu64,+smap,+smep")
	console="console=ttyS0 no_timer_check tsc=nowatchdog unknown_nmi_panic"
	# With -i the TSC counts instructions. Otherwise it is that of the host.
	[ ${#icount[@]} -gt 0 ] || [ "$(uname -m)" != x86_64 ] ||
		console+=" tsc_early_khz=$("$TOP/scripts/vm/tsc_khz.py")"
	# With pci=noacpi an i386 kernel finds no resources for the device of the share.
	[ -n "$foreign" ] || console+=" pci=noacpi"
	;;
aarch64)
	hardware=(-M "virt,gic-version=3" -cpu cortex-a76)
	console="console=ttyAMA0"
	;;
esac
mkfifo "$root"/{monitor.in,monitor.out,never}
# A virtual CPU may lose its timer while the kernel boots, and then the kernel waits for ever. So a
# guest that stood still before it loaded any module of ours boots again, with more time on a slow
# machine.
for seconds in 300 600 900; do
	[ $seconds = 300 ] || say "the virtual machine stood still before it loaded a module of ours: it boots again"
	run_guest $seconds && [ -e "$share/alive" ] && [ ! -s "$share/alive" ] || break
	cp "$share/console.log" "$share/console-$seconds.log"
done
rm -f "$share/initramfs"
stale=$(cat "$share/stale" 2>/dev/null || true)
[ "${stale:-0}" = 0 ] || say "QEMU has executed a breakpoint that was gone $stale times; went on"
if [ ! -s "$share/status" ]; then
	tail -n 40 "$share/guest.log" >&2
	if grep -q 'Kernel panic' "$share/console.log"; then
		grep -A 80 -m 1 'Kernel panic' "$share/console.log" >&2
	else
		tail -n 40 "$share/console.log" >&2
	fi
	die "the virtual machine ended without a result; see $share/console.log"
fi
exit "$(cat "$share/status")"
