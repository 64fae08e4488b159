# SPDX-License-Identifier: GPL-2.0-only
#
# For run.sh: print the line of progress; with only_minutes=1, only the minutes that are left.
# Variables: now and start, in seconds; slots, the number of virtual machines that run at a time.
# Input: first lines STEP SECONDS, which the step takes longer this time; then a line for each step:
# STEP POOL SECONDS BEGIN TEXT. SECONDS is the planned time. BEGIN is a time, or - if the step has
# not begun. TEXT of a finished step are the numbers of its STEP.time, the first of them the seconds
# that it has taken; of a kernel's build, its latest message, in parentheses.

# A step that has run for longer than expected, or than planned, will run for at least a quarter of
# that time more. rest is a local variable.
function left_of(seconds, passed,    rest) {
	rest = seconds * factor - passed
	return (rest < 0 || passed > seconds) && rest < passed / 4 ? passed / 4 : rest
}

NF == 2 { extra[$1] += $2; next }
{
	$3 += extra[$1]
	step[++steps] = $1; pool[steps] = $2; planned[steps] = $3; began[steps] = $4
}
$5 ~ /^[0-9]/ { done[steps] = 1; count++; real += $5; forecast += $3; next }
$4 != "-" {
	text = ""; for (i = 5; i <= NF; i++) text = text " " $i
	running = running (running ? ", " : "") $1 text
	if (now - $4 > $3) { real += now - $4; forecast += $3 }
	# The message of a kernel's build: "(200 of about 1500 files)". The first files say little,
	# because the time has the unpacking of the sources too.
	files = substr($5, 2) + 0
	if ($6 == "of" && files >= 100)
		left_by_files[steps] = (now - $4) * ($8 / files - 1)
}

END {
	# How much longer than planned steps take here: those that have finished, and those that
	# run for longer than planned already. A minute is added to both sums, so that one short
	# step does not change the factor much.
	factor = (real + 60) / (forecast + 60)
	for (i = 1; i <= steps; i++) {
		if (done[i])
			continue
		rest = left_of(planned[i], began[i] == "-" ? 0 : now - began[i])
		if (left_by_files[i] > rest)
			rest = left_by_files[i]
		if (pool[i] == "host")
			host += rest
		else if (pool[i] != "beside")
			vm += rest * (pool[i] == "vm2" && slots > 1 ? 2 : 1) / slots
		if (rest > longest)
			longest = rest
	}
	left = vm > host ? vm : host
	if (longest > left)
		left = longest
	if (only_minutes) {
		print int(left / 60 + 1)
		exit
	}
	if (left < 90)
		text = int(left) " s"
	else
		text = int(left / 60 + 0.5) " min"
	printf("[%4ds] %d of %d steps done, about %s left; running: %s\n", now - start,
		count, steps, text, running)
}
