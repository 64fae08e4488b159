# SPDX-License-Identifier: GPL-2.0-only
#
# `make help` lists the targets.

comma := ,
KERNELRELEASE_RUNNING := $(shell uname -r)
OUT := $(CURDIR)/out
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
CHECKPATCH_FILES = $(shell git ls-files '*.c' '*.h')

# The running kernel's headers; empty if they are missing: then kdir below sets KDIR.
KDIR ?= $(wildcard /lib/modules/$(KERNELRELEASE_RUNNING)/build)

# make passes variables of its command line to kbuild: W=1, C=1, V=1 and so on.
kbuild = $(MAKE) -C $(or $(KDIR),$(error no KDIR)) M=$(CURDIR)

all: modules tools

modules: kdir
	+$(kbuild) modules

modules_install: kdir
	$(kbuild) modules_install

tools:
	$(MAKE) -C tools/ntklog

# The Python package, which needs Python's headers.
python:
	$(MAKE) -C tools/ntklog python

tools_install:
	$(MAKE) -C tools/ntklog install

dkms_source:
	install -d $(DESTDIR)/usr/src/ntklog-$(VERSION)
	cp -r Kbuild Makefile dkms.conf LICENSE include module workload \
		$(DESTDIR)/usr/src/ntklog-$(VERSION)
	find $(DESTDIR)/usr/src/ntklog-$(VERSION) -name '*.o' -o -name '*.ko' -o -name '*.cmd' \
		-o -name '*.mod' -o -name '*.mod.c' | xargs -r rm -f
	rm -r $(DESTDIR)/usr/src/ntklog-$(VERSION)/workload/native
	install -D scripts/packages/dkms-post-build.sh \
		$(DESTDIR)/usr/src/ntklog-$(VERSION)/scripts/packages/dkms-post-build.sh

deb:
	scripts/packages/deb.sh

docs:
	scripts/check/docs.sh

clean: $(if $(wildcard modules.order),modules_clean)
	$(MAKE) -C tools/ntklog clean

modules_clean: kdir
	$(kbuild) clean

distclean: clean
	rm -rf $(OUT)

# If the headers of the running kernel are missing, use those of Debian's newest kernel of the
# series in scripts/lib.sh (KERNEL_SERIES), unpacked in the cache, and print a message.
kdir:
ifeq ($(KDIR),)
	$(eval KDIR := $(shell scripts/kernels/debian-kernel.sh | sed -n 's/^KDIR=//p'))
	@test -n "$(KDIR)" || { echo 'ntklog: no kernel headers; give KDIR=' >&2; exit 1; }
	@echo "ntklog: no headers for the running kernel, building against $(KDIR)" >&2
endif

checkpatch:
	@scripts/check/checkpatch.sh $(CHECKPATCH_FILES)

sparse: kdir
	scripts/check/sparse.sh $(KDIR)

demo:
	scripts/demo/demo.sh

pictures:
	scripts/demo/pictures.sh

check:
	tests/run.sh check

test:
	tests/run.sh test

test-all:
	tests/run.sh all

soak:
	tests/soak.sh $(PARTS)

bench:
	bench/bench.sh

help:
	@echo 'Building:'
	@echo '  all             - the modules and the tool (default)'
	@echo '  modules         - ntklog.ko and the workloads, for the kernel in KDIR'
	@echo '  modules_install - install them in /lib/modules; INSTALL_MOD_PATH= is a prefix'
	@echo '  tools           - the command-line tool tools/ntklog/ntklog, and libntklog-etl'
	@echo '  python          - the Python package, in tools/ntklog/package'
	@echo '  tools_install   - install them in prefix=/usr/local, below DESTDIR='
	@echo '  deb             - the packages, in out/deb: ntklog, ntklog-dkms, libntklog-etl0, -dev,'
	@echo '                    python3-ntklog'
	@echo '  docs            - the documentation as HTML, in out/docs'
	@echo '  dkms_source     - what DKMS builds the module from, in DESTDIR=/usr/src'
	@echo '  clean           - remove what was built in the tree'
	@echo '  distclean       - and out/, what demo and test left'
	@echo ''
	@echo 'Seeing and testing (as root or with sudo; a virtual machine is used):'
	@echo '  demo            - a contended workload in Debian'"'"'s kernel, and its events'
	@echo '  pictures        - Documentation/images, from the files of the demo'
	@echo '  check           - before each commit: 4 minutes'
	@echo '  test            - the main promises, on Debian'"'"'s stock kernel: 5 minutes, 11 to 15 with'
	@echo '                    an empty cache; the last line is "N passed, N failed"'
	@echo '  test-all        - every test, which CI runs: 40 to 80 minutes there;'
	@echo '                    ONLY="STEP..." runs some steps of a tier, as the progress names them;'
	@echo '                    TIME_LIMIT=MINUTES: no step begins later, and those count as skipped'
	@echo '  soak            - for nights: hours of fuzzing, torture, nonsense, loads;'
	@echo '                    PARTS="..." some of it, SOAK_HOURS=8; goes on where it was'
	@echo '  bench           - what the locks cost, next to Linux'"'"' own'
	@echo '  checkpatch      - the kernel'"'"'s checkpatch.pl --strict on every source'
	@echo '  sparse          - sparse on the modules'
	@echo ''
	@echo 'Variables:'
	@echo '  KDIR=DIRECTORY  - build directory (headers) of the kernel that the modules are built for,'
	@echo '                    such as /usr/src/linux-headers-VERSION; without KDIR= that is'
	@echo '                    $(or $(KDIR),Debian'"'"'s newest one$(comma) for the running kernel has no headers here)'
	@echo '  W=1 C=1 V=1     - as in the kernel'

.PHONY: all modules modules_clean modules_install tools python tools_install clean distclean kdir
.PHONY: checkpatch sparse demo pictures check test test-all soak bench deb docs dkms_source help
