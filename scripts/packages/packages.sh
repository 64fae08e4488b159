# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# Groups of Debian's packages, and their purpose for the message of install_groups(), which installs
# a group.

declare -A PACKAGES=(
	[tool]="ccache gcc make libc6-dev pkg-config libbpf-dev libjansson-dev libmicrohttpd-dev uthash-dev
		protobuf-c-compiler libprotobuf-c-dev zlib1g-dev"
	[tool-tests]="python3 python3-jsonschema python3-prometheus-client bash-completion mandoc time
		babeltrace2"
	[metrics]="python3 python3-prometheus-client"
	[headers]="gcc g++ libc6-dev"
	[style]="perl git python3 sparse"
	[fuzz]="ccache clang libclang-rt-dev"
	[page]="chromium python3"
	[clickhouse]="clickhouse-server clickhouse-client python3"
	[deb]="git build-essential debhelper dh-python dkms dh-dkms"
	[python]="python3 python3-dev python3-numpy"
	[root]="mmdebstrap"
	[model]="spin gcc libc6-dev"
	[source]="xz-utils"
	[unpack]="kmod xz-utils"
	[kernel]="ccache gcc make flex bison bc libelf-dev libssl-dev perl cpio xz-utils kmod"
	[modules]="ccache gcc gcc-12 make libc6-dev libelf-dev dwarves rsync"
	[clang]="ccache clang lld llvm"
	[vm]="busybox-static cpio kmod python3 trace-cmd"
	[programs]="ccache gcc libc6-dev"
	[programs32]="gcc-multilib"
	[bench]="python3 time babeltrace2"
	[native]="python3 gcc make libc6-dev libck-dev"
	[docs]="python3 python3-sphinx"
)

declare -A PURPOSE=(
	[tool]="to build the tool"
	[tool-tests]="to test the tool"
	[metrics]="to test the metrics with Prometheus"
	[headers]="to check the wire headers"
	[style]="to check the style of the sources"
	[fuzz]="to fuzz the tool: libFuzzer"
	[clickhouse]="to test the queries of a fleet's recordings"
	[page]="to test the report's page in a browser"
	[deb]="to build the packages, and modules by DKMS"
	[python]="to build and test the Python package"
	[root]="to make a fresh Debian"
	[model]="to check models"
	[source]="to unpack the kernel's source"
	[unpack]="to unpack kernels and index their modules"
	[kernel]="to build a kernel"
	[modules]="to build modules"
	[clang]="to build modules with clang"
	[vm]="to run virtual machines"
	[programs]="to build programs for the virtual machines"
	[programs32]="to build programs of 32 bits, for the ioctls"
	[bench]="to measure the tool and print the benchmark's tables"
	[native]="to measure the locks as a program, next to ConcurrencyKit's"
	[docs]="to make the documentation as HTML"
)
