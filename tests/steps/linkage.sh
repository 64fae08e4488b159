#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# linkage.sh SERIES: build and load a module that uses include/ntklog, for a kernel of Debian's,
# which has CONFIG_MODVERSIONS.

. "$(dirname "$0")/../lib.sh"

# linkage_module_uses_all [AUX-INFO [SYMVERS]]: AUX-INFO is gcc's list of the functions in
# the headers, SYMVERS the list of exported symbols.
linkage_module_uses_all()
{
	python3 "$TESTS/check/check_linkage.py" "${1:-$DIR/module/nt_code.aux}" \
		"${2:-$OUT/build/$ABI/Module.symvers}" "$DIR/module/ntklog_linkage.ko" \
		"$DIR/module"
}

only_this_test_fails()
{
	local test=$1
	shift
	"$@" >"$DIR/fails.tap" 2>&1 || true
	cat "$DIR/fails.tap"
	[ "$(grep '^not ok' "$DIR/fails.tap")" = "not ok - Linkage.$test" ]
}

install_groups modules
set_debian_kernel "$1"
run_test "$1: the modules build with W=1 and no warning" \
	build_modules_silently "$KDIR" "$OUT/build/$ABI"
cp -r "$TESTS/linkage" "$DIR/module"
linkage_module_builds()
{
	# ccache does not store the file that -aux-info writes.
	CCACHE_DISABLE=1 make -C "$DIR/module" KDIR="$KDIR" NTKLOG="$OUT/build/$ABI" W=1 \
		LINKAGE_CFLAGS="-aux-info $DIR/module/nt_code.aux" >"$DIR/make.log" 2>&1 ||
		{ cat "$DIR/make.log"; return 1; }
	! grep -E 'warning:|WARNING:|ERROR:' "$DIR/make.log"
}
run_test "$1: a module that uses everything links, without a warning" linkage_module_builds
run_test_program linkage_module_uses_all | sed "s/ok - /ok - $1 /"

# Test the test: each of these changes to its input must make one case fail.
header=$(grep -m 1 -o '/[^ ]*/include/ntklog/nt\.h' "$DIR/module/nt_code.aux")
{ cat "$DIR/module/nt_code.aux"; echo "/* $header:1:NF */ static void KeDoNothing (void);"; } \
	>"$DIR/more.aux"
run_test "$1: a new function in a header that is not called is found out" \
	only_this_test_fails test_every_function_in_a_header_is_called linkage_module_uses_all \
		"$DIR/more.aux"
{ cat "$DIR/module/nt_code.aux"; echo "/* $header:1:NC */ extern void ke_do_nothing (void);"; } \
	>"$DIR/more.aux"
run_test "$1: a declaration of a function that is not exported is found out" \
	only_this_test_fails test_declared_functions_are_exported linkage_module_uses_all \
		"$DIR/more.aux"
{ cat "$OUT/build/$ABI/Module.symvers"; printf '0x0\tke_do_nothing\t/ntklog\tEXPORT_SYMBOL_GPL\t\n'; } \
	>"$DIR/more.symvers"
run_test "$1: an exported symbol that the module does not link is found out" \
	only_this_test_fails test_exported_symbols_are_linked linkage_module_uses_all "" \
		"$DIR/more.symvers"
sed 's/\tex_delete_resource_lite\t/\tex_enter_critical_region_and_acquire_shared_wait_for_exclusive\t/' \
	"$OUT/build/$ABI/Module.symvers" >"$DIR/long.symvers"
run_test "$1: a symbol that is too long is found out" \
	sh -c "'$TESTS/check/check_linkage.py' '$DIR/module/nt_code.aux' '$DIR/long.symvers' \
		'$DIR/module/ntklog_linkage.ko' '$DIR/module' |
		grep -x 'not ok - Linkage.test_no_symbol_is_too_long'"

cp "$OUT/build/$ABI"/{ntklog,tests/modules/stale_code}.ko "$DIR/module/ntklog_linkage.ko" "$TESTS/guest/lib.sh" "$DIR/"
cp "$TESTS/guest/linkage.sh" "$DIR/guest.sh"
run_test "$1: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$IMAGE" -M "$MODULES" "$DIR"
print_guest_results | sed "s/ok - /ok - $1 /"
