#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the Debian packages, and test that they can be installed, used and removed in a fresh Debian
# with only their dependencies.

. "$(dirname "$0")/../lib.sh"

# run_in_root ROOT COMMAND...: run a command in the Debian in ROOT, with a clean environment.
run_in_root()
{
	local root=$1
	shift
	run_as_root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

dkms_builds()
{
	local dir=$DIR/dkms
	set_debian_kernel "$1"
	run_as_root dkms build --dkmstree "$dir/var" --sourcetree "$dir/root/usr/src" \
		-m ntklog -v "$VERSION" -k "$ABI" --kernelsourcedir "$KDIR" || {
		cat "$dir"/var/ntklog/"$VERSION"/build/make.log
		return 1
	}
	find "$dir/var/ntklog/$VERSION/$ABI" -name 'ntklog.ko*' | grep .
}

# driver_builds SERIES: build the package's example drivers as Documentation/nt/porting.rst says.
driver_builds()
{
	local dir=$DIR/dkms driver=$DIR/dkms/driver-$1
	set_debian_kernel "$1"
	cp -r "$dir/root/usr/share/doc/ntklog-dkms/examples" "$driver"
	make -s -C "$driver" KDIR="$KDIR" NTKLOG="$dir/root/usr/src/ntklog-$VERSION" \
		SYMBOLS="$dir/var/ntklog/$VERSION/$ABI/$(uname -m)/Module.symvers"
	ls "$driver"/{nt_queue,ntklog_example}.ko
}

install_groups deb
build_tool generate
root=$DIR/root
mkdir -p "$DIR/dkms/var"
run_test "packages: make deb" make -s -C "$TOP" deb
VERSION=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
run_test "packages: the changelog has the version of dkms.conf" \
	grep -q "^ntklog ($VERSION) " "$TOP/debian/changelog"
dpkg-deb -x "$OUT/deb/ntklog-dkms_${VERSION}_all.deb" "$DIR/dkms/root"
run_test "packages: dkms add" run_as_root dkms add --dkmstree "$DIR/dkms/var" \
	--sourcetree "$DIR/dkms/root/usr/src" -m ntklog -v "$VERSION"
for series in 6.12 6.1; do
	run_test "packages: DKMS builds for $series" dkms_builds "$series"
	run_test "packages: drivers build with what DKMS has kept, for $series" driver_builds "$series"
done
"$TOP/scripts/vm/clean-root.sh" bookworm "$root" dkms libbpf1 libjansson4 libprotobuf-c1 zlib1g gcc libc6-dev pkg-config python3
run_as_root cp "$OUT/deb/ntklog_${VERSION}_amd64.deb" \
	"$OUT/deb/ntklog-dkms_${VERSION}_all.deb" \
	"$OUT"/deb/{libntklog-etl0,libntklog-etl-dev,python3-ntklog}_"${VERSION}"_amd64.deb "$root/"
"$OUT/build/tool/generate" 1 >"$DIR/trace.etl"
run_as_root cp "$DIR/trace.etl" "$root/"
run_test "packages: installed in a fresh Debian" \
	run_in_root "$root" sh -c 'dpkg -i /ntklog_*.deb /ntklog-dkms_*.deb /libntklog-etl*.deb \
		/python3-ntklog_*.deb'
run_test "packages: the tool runs there" sh -c "$(declare -f run_in_root run_as_root die);
	run_in_root $root ntklog --version | grep -x 'ntklog $VERSION'"
run_test "packages: DKMS has the module there" sh -c "$(declare -f run_in_root run_as_root die);
	run_in_root $root dkms status | grep '^ntklog/$VERSION: added'"
run_test "packages: man pages and completion are there" ls \
	"$root/usr/share/man/man1/ntklog.1.gz" "$root/usr/share/man/man5/ntklog-etl.5.gz" \
	"$root/usr/share/bash-completion/completions/ntklog"
run_test "packages: the exporter's service is there, and off" sh -c "
	ls $root/lib/systemd/system/ntklog-exporter.service $root/etc/default/ntklog-exporter
	! find $root/etc/systemd -name 'ntklog-exporter*' | grep ."
run_test "packages: the documentation is there" ls "$root/usr/share/doc/ntklog/html/index.html" \
	"$root/usr/share/doc/ntklog/html/nt/porting.html" "$root/usr/share/doc/ntklog/NEWS.rst.gz" \
	"$root/usr/share/doc/ntklog/README.md.gz" \
	"$root/usr/share/doc/ntklog/examples/sample.etl"
run_test "packages: the tool prints sample.json for sample.etl" sh -c "
	$(declare -f run_in_root run_as_root die)
	run_in_root $root ntklog dump --json /usr/share/doc/ntklog/examples/sample.etl |
		diff - $root/usr/share/doc/ntklog/examples/sample.json"
run_test "packages: a program links with the library, as its manual says" sh -c "
	$(declare -f run_in_root run_as_root die)
	set -e
	run_in_root $root sh -c 'cc -o /list /usr/share/doc/libntklog-etl-dev/examples/etl_list.c \
		\$(pkg-config --cflags --libs libntklog-etl)'
	run_in_root $root ntklog dump /trace.etl | wc -l >$DIR/dumped
	run_in_root $root /list /trace.etl | wc -l | diff $DIR/dumped -
	! grep -qx 0 $DIR/dumped"
# The fresh Debian has no numpy.
run_test "packages: Python reads the events, and the tool's report" sh -c "
	$(declare -f run_in_root run_as_root die)
	run_in_root $root python3 -c '
import ntklog
events = list(ntklog.open(\"/trace.etl\"))
columns = ntklog.open(\"/trace.etl\").columns(\"SpinLock\")[\"SpinLock\"]
waits = [event[\"WaitTimeInCycles\"] for event in events if event.name == \"SpinLock\"]
assert waits and columns[\"WaitTimeInCycles\"] == waits
assert ntklog.report(\"/trace.etl\")[\"locks\"]
print(len(events))' | diff $DIR/dumped -"
run_test "packages: the library's manual is there" ls "$root/usr/share/man/man3/ntklog-etl.3.gz" \
	"$root/usr/share/man/man3/etl_open.3.gz"
run_test "packages: can be removed" run_in_root "$root" dpkg -P ntklog ntklog-dkms \
	libntklog-etl-dev libntklog-etl0 python3-ntklog
run_as_root rm -f "$root/list" "$root/trace.etl"
run_test "packages: leave no file when they are removed" \
	sh -c "! find $root -mindepth 2 -name '*ntklog*' | grep ."
run_as_root rm -rf "$root"
