#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# deb.sh: build the Debian packages from the files that git tracks, in out/deb/.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/progress.sh"

begin_stages 60
install_groups tool deb python docs
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
build=$OUT/deb/build/ntklog-$version
rm -rf "$OUT/deb"
mkdir -p "$build"
(cd "$TOP" && git ls-files -z | xargs -0 cp --parents -t "$build")
say "building the packages of version $version"
run_quietly deb env -C "$build" dpkg-buildpackage -us -uc -b
mv "$OUT"/deb/build/*.deb "$OUT/deb/"
rm -rf "$OUT/deb/build"
ls "$OUT"/deb/*.deb
