#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compile the headers of include/uapi and the library's header alone, as C11 and as C++11.

. "$(dirname "$0")/../lib.sh"

install_groups headers
(cd "$TOP/include/uapi" && ls ntklog/*.h) | while read -r header; do
	printf '#include <%s>\n' "$header"
done >"$DIR/all.c"
echo '#include <ntklog/etl.h>' >>"$DIR/all.c"
cp "$DIR/all.c" "$DIR/all.cc"
run_test "headers: C11" gcc -std=c11 -pedantic -Wall -Werror -fsyntax-only \
	-I"$TOP/include/uapi" -I"$TOP/tools/ntklog/include" "$DIR/all.c"
run_test "headers: C++11" g++ -std=c++11 -Wall -Werror -fsyntax-only \
	-I"$TOP/include/uapi" -I"$TOP/tools/ntklog/include" "$DIR/all.cc"
# A wrong layout must not compile, or the layout assertions of the headers would prove nothing.
cat >"$DIR/wrong.c" <<-'END'
	#include <ntklog/layout.h>
	struct wrong { __u32 a; __u64 b; };
	NTKLOG_ASSERT_OFFSET(struct wrong, b, 4);
END
run_test "headers: a wrong offset does not compile" \
	sh -c "! gcc -fsyntax-only -I$TOP/include/uapi $DIR/wrong.c"
