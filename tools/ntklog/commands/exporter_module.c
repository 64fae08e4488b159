// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "exporter.h"
#include "kernel.h"
#include "message.h"
#include "parameter.h"

/*
 * Modes in which less and less is recorded. Hooks of locks that sleep cost the same in each of the
 * module's modes, so the last entry leaves these locks out.
 */
static const struct {
	const char *linux_mode;
	bool has_sleeping_locks;
} exporter_modes[] = {
	{ "full", true },
	{ "sampled", true },
	{ "waits", true },
	{ "waits", false },
};

/* NT's default rate, and a prime in its place, which is in step with no loop of a few locks. */
#define NT_RATE		1000
#define PRIME_RATE	1009

/* Greatest rate that a step sets. */
#define RATE_MAX	1000000007u

/**
 * exporter_find_mode() - find the first mode with a mode of Linux' locks
 * @name: mode of Linux' locks
 *
 * Return: index of the mode, or -1 if there is none.
 */
int exporter_find_mode(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(exporter_modes); i++)
		if (!strcmp(exporter_modes[i].linux_mode, name))
			return i;
	return -1;
}

/**
 * exporter_mode_name() - name the present mode of Linux' locks
 * @exporter: the command
 *
 * Return: name of the mode.
 */
const char *exporter_mode_name(const struct exporter *exporter)
{
	return exporter_modes[exporter->richest_mode + exporter->budget.mode].linux_mode;
}

static bool mode_has_sleeping_locks(const struct exporter *exporter)
{
	return exporter_modes[exporter->richest_mode + exporter->budget.mode].has_sleeping_locks;
}

static void choose_groups(struct exporter *exporter)
{
	char *groups = exporter->present_groups;
	size_t size = sizeof(exporter->present_groups), i;

	if (!exporter->groups) {
		session_list_possible_groups(groups, size, mode_has_sleeping_locks(exporter));
		return;
	}
	*groups = '\0';
	for (i = 0; i < session_group_count; i++)
		if (session_groups_include(exporter->groups, session_groups[i].mask) &&
		    (mode_has_sleeping_locks(exporter) || !session_groups[i].is_sleeping_kind))
			snprintf(groups + strlen(groups), size - strlen(groups), "%s%s",
				 *groups ? "," : "", session_groups[i].name);
}

/* Count the modes that differ for the groups that are recorded. */
static void count_modes(struct exporter *exporter)
{
	bool has_spin_locks = false, has_sleeping_locks = false;
	size_t i;

	choose_groups(exporter);
	for (i = 0; i < session_group_count; i++) {
		if (!session_groups_include(exporter->present_groups, session_groups[i].mask))
			continue;
		has_sleeping_locks |= session_groups[i].is_sleeping_kind;
		has_spin_locks |= session_groups[i].linux_kind &&
				  !session_groups[i].is_sleeping_kind;
	}
	exporter->budget.mode_count = 1;
	if (has_spin_locks)
		exporter->budget.mode_count = ARRAY_SIZE(exporter_modes) - exporter->richest_mode -
					      !has_sleeping_locks;
}

static int report_mode(const char *mode, int err)
{
	if (err == -EBUSY)
		message("mode %s: Linux' locks are being recorded in another mode: stop that session first (ntklog list)",
			mode);
	else if (err == -ENOENT)
		message("mode %s: the loaded module has no modes: load a newer one", mode);
	else if (err)
		message("mode %s: %s", mode, strerror(-err));
	return err ? -1 : 0;
}

/* Set a setting. The first change keeps the value to restore at the end. */
static int change_setting(struct setting *setting, const char *value)
{
	return setting->is_changed ? kernel_write(value, "%s", setting->file) :
				     setting_change(setting, NULL, value);
}

static void choose_base_rate(struct exporter *exporter, enum exporter_rate_kind rate)
{
	struct exporter_rate_setting *setting = &exporter->rate_settings[rate];
	char group[32];
	const char *name = strchr(setting->setting.file, '/');

	snprintf(group, sizeof(group), "%.*s", (int)(name - setting->setting.file),
		 setting->setting.file);
	if (parameter_get(group, name + 1, &setting->base_rate))
		return;
	setting->rate = setting->base_rate;
	if (setting->base_rate == NT_RATE)
		setting->base_rate = PRIME_RATE;
	/* Record the holders of Linux' spin locks. */
	if (rate == EXPORTER_SPINLOCK_BLOCKERS && !setting->base_rate &&
	    strcmp(exporter_mode_name(exporter), "waits"))
		setting->base_rate = 1;
}

/**
 * exporter_begin_settings() - read the settings of the module, and set those of the first step
 * @exporter: its options are parsed
 *
 * Return: 0, or -1 after a message.
 */
int exporter_begin_settings(struct exporter *exporter)
{
	const char *mode = exporter_mode_name(exporter);
	enum exporter_rate_kind rate;

	if (report_mode(mode, change_setting(&exporter->mode_setting, mode)))
		return -1;
	count_modes(exporter);
	for (rate = 0; rate < EXPORTER_RATES; rate++)
		choose_base_rate(exporter, rate);
	return exporter_apply_rates(exporter);
}

/*
 * Compute the rate of the present step. A multiple gets 1 added, because an even rate is in step
 * with each loop of even length.
 */
static uint32_t rate_of_step(const struct exporter *exporter, uint32_t base_rate)
{
	unsigned int multiplier = budget_multiplier(&exporter->budget);

	if (multiplier == 1)
		return base_rate;
	return base_rate < RATE_MAX / multiplier ? base_rate * multiplier + 1 : RATE_MAX;
}

/**
 * exporter_apply_rates() - set the rates of the present step of the budget
 * @exporter: its settings are read
 *
 * Return: 0, or -1 after a message.
 */
int exporter_apply_rates(struct exporter *exporter)
{
	enum exporter_rate_kind i;

	for (i = 0; i < EXPORTER_RATES; i++) {
		struct exporter_rate_setting *rate = &exporter->rate_settings[i];
		uint32_t value = rate->base_rate ? rate_of_step(exporter, rate->base_rate) : 0;
		char text[16];
		int err;

		if (value == rate->rate)
			continue;
		snprintf(text, sizeof(text), "%" PRIu32, value);
		err = change_setting(&rate->setting, text);
		if (!err) {
			rate->rate = value;
		} else if (err == -EBUSY) {
			/* Another session runs, whose file says that the blocker rate is 0. */
			rate->base_rate = rate->rate;
		} else {
			message("%s: %s", rate->setting.file, strerror(-err));
			return -1;
		}
	}
	return 0;
}

/**
 * exporter_start_session() - start a session in the present mode
 * @exporter: its settings are set
 *
 * Return: 0, or -1 after a message.
 */
int exporter_start_session(struct exporter *exporter)
{
	const struct session_settings settings = {
		.groups = exporter->present_groups,
		.buffer_size = 64 << 10,
		.buffer_count = 32,
		.mode = NTKLOG_SESSION_SEQUENTIAL,
	};
	static const int no_signals[] = { 0 };

	struct recording *recording = &exporter->live_sums.recording;
	struct epoll_event event = { .events = EPOLLIN };

	choose_groups(exporter);
	exporter->old_session_counts = (struct ntklog_session_counts) { 0 };
	exporter->old_missing_buffer_count = 0;
	if (live_sums_start(&exporter->live_sums, &settings, no_signals) ||
	    live_sums_follow(&exporter->live_sums))
		return -1;
	if (epoll_ctl(exporter->wake_fd, EPOLL_CTL_ADD, recording->signal_fd, &event)) {
		message("cannot wait for signals: epoll_ctl: %s", strerror(errno));
		return -1;
	}
	recording->wake_fd = exporter->wake_fd;
	return 0;
}

/**
 * exporter_change_mode() - stop the session, and start one in the mode that the budget has chosen
 * @exporter: a session runs
 * @old_mode: mode of that session, which stays if another session needs it
 *
 * Return: 0, or -1 after a message.
 */
int exporter_change_mode(struct exporter *exporter, unsigned int old_mode)
{
	int err;

	live_sums_stop(&exporter->live_sums);
	err = change_setting(&exporter->mode_setting, exporter_mode_name(exporter));
	if (err == -EBUSY) {
		message("mode %s: another session records Linux' locks: the mode stays",
			exporter_mode_name(exporter));
		exporter->budget.mode = old_mode;
	} else if (report_mode(exporter_mode_name(exporter), err)) {
		return -1;
	}
	return exporter_start_session(exporter);
}

/**
 * exporter_restore_settings() - restore the settings of the module
 * @exporter: its session is stopped
 *
 * While another session runs, everything stays as it is.
 */
void exporter_restore_settings(struct exporter *exporter)
{
	enum exporter_rate_kind rate;

	if (session_any_is_started())
		return;
	setting_restore(&exporter->mode_setting);
	for (rate = 0; rate < EXPORTER_RATES; rate++)
		setting_restore(&exporter->rate_settings[rate].setting);
}
