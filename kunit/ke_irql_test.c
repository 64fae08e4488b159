// SPDX-License-Identifier: GPL-2.0-only
/* NT's facts I1 to I6 in kunit/facts.rst. Some tests make a caller's error (see ke_test.c). */

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <ntklog/irql.h>

#include "fixture.h"

/* I1: raising and lowering. */

static void irql_raised_and_lowered_restored(struct kunit *test)
{
	u8 level, old_irql;

	for (level = PASSIVE_LEVEL; level <= HIGH_LEVEL; level++) {
		old_irql = 0xFF;
		ke_raise_irql(level, &old_irql);
		KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), level);
		KUNIT_EXPECT_EQ(test, irqs_disabled(), level > DISPATCH_LEVEL);
		ke_lower_irql(PASSIVE_LEVEL);
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
		KUNIT_EXPECT_FALSE(test, irqs_disabled());
		KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	}
}

static void irql_raised_in_steps_each_level_set(struct kunit *test)
{
	u8 level, old_irql[HIGH_LEVEL + 1];

	for (level = PASSIVE_LEVEL; level <= HIGH_LEVEL; level++) {
		ke_raise_irql(level, &old_irql[level]);
		KUNIT_EXPECT_EQ(test, old_irql[level], level ? level - 1 : 0);
	}
	for (level = HIGH_LEVEL; level > PASSIVE_LEVEL; level--) {
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), level);
		KUNIT_EXPECT_EQ(test, irqs_disabled(), level > DISPATCH_LEVEL);
		ke_lower_irql(old_irql[level]);
	}
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

static void raising_functions_old_irql_returned(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), SYNCH_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

static void softirqs_disabled_by_linux_irql_dispatch(struct kunit *test)
{
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* I2: IRQL of interrupts. */

static void record_irqls(void *data)
{
	u8 *irql = data;

	irql[0] = ke_get_current_irql();
	irql[1] = ke_raise_irql_to_synch_level();
	irql[2] = ke_get_current_irql();
	ke_lower_irql(irql[1]);
	irql[3] = ke_get_current_irql();
}

static void interrupt_context_irql_reported(struct kunit *test)
{
	u8 irql[4];

	test_run_in_hardirq(record_irqls, irql);
	KUNIT_EXPECT_GE(test, irql[0], 3);
	KUNIT_EXPECT_EQ(test, irql[1], irql[0]);
	KUNIT_EXPECT_EQ(test, irql[2], SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, irql[3], irql[0]);

	test_run_in_softirq(record_irqls, irql);
	KUNIT_EXPECT_EQ(test, irql[0], DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, irql[1], irql[0]);
	KUNIT_EXPECT_EQ(test, irql[2], SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, irql[3], irql[0]);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static bool interrupt_done;
static u8 interrupt_irqls[4];

static enum hrtimer_restart run_interrupt(struct hrtimer *timer)
{
	record_irqls(interrupt_irqls);
	WRITE_ONCE(interrupt_done, true);
	return HRTIMER_NORESTART;
}

static void interrupt_ends_thread_irql_restored(struct kunit *test)
{
	struct hrtimer timer;
	u8 old_irql;

	WRITE_ONCE(interrupt_done, false);
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = run_interrupt;
	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(interrupt_done))
		cpu_relax();
	KUNIT_EXPECT_EQ(test, interrupt_irqls[0], DIRQL_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

/* I3: softirqs and preemption. */

static bool tasklet_ran;

static void record_tasklet_run(struct tasklet_struct *tasklet)
{
	WRITE_ONCE(tasklet_ran, true);
}

static void dispatch_level_no_softirq_and_no_preemption(struct kunit *test)
{
	struct tasklet_struct tasklet;
	u8 old_irql;

	WRITE_ONCE(tasklet_ran, false);
	tasklet_setup(&tasklet, record_tasklet_run);
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_FALSE(test, preemptible());
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	tasklet_schedule(&tasklet);
	mdelay(20);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(tasklet_ran));
	ke_lower_irql(old_irql);
	tasklet_kill(&tasklet);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(tasklet_ran));
	KUNIT_EXPECT_TRUE(test, preemptible());
}

static void irql_lowered_pending_softirqs_run(struct kunit *test)
{
	struct tasklet_struct tasklet;
	u8 old_irql;

	WRITE_ONCE(tasklet_ran, false);
	tasklet_setup(&tasklet, record_tasklet_run);
	old_irql = ke_raise_irql_to_synch_level();
	tasklet_schedule(&tasklet);
	ke_lower_irql(DISPATCH_LEVEL);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(tasklet_ran));
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(tasklet_ran));
	tasklet_kill(&tasklet);
}

/* I4: wrong directions. tests/steps/kunit.sh expects the reports. */

static void raise_to_lower_irql_refused(struct kunit *test)
{
	u8 old_irql, unused;

	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	ke_raise_irql(APC_LEVEL, &unused);
	KUNIT_EXPECT_EQ(test, unused, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

static void lower_to_higher_irql_refused(struct kunit *test)
{
	ke_lower_irql(DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* I5: sleeping. tests/steps/kunit.sh expects the kernel's report. */

static void sleep_at_dispatch_level_reported(struct kunit *test)
{
	u8 old_irql;

	if (!IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP))
		kunit_skip(test, "no DEBUG_ATOMIC_SLEEP in this kernel");
	test_let_sleep_be_reported();
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_NE(test, preempt_count(), 0);
	might_sleep();
	ke_lower_irql(old_irql);
}

/* I6: APC_LEVEL belongs to a thread. */

static int record_irql_of_thread(void *data)
{
	*(u8 *)data = ke_get_current_irql();
	return 0;
}

static void apc_level_thread_migrated_kept(struct kunit *test)
{
	struct test_thread other;
	u8 old_irql, other_irql = 0xFF;

	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_TRUE(test, preemptible());
	test_thread_start(test, &other, TEST_CPU, record_irql_of_thread, &other_irql);
	test_thread_join(&other);
	KUNIT_EXPECT_EQ(test, other_irql, PASSIVE_LEVEL);
	if (num_online_cpus() > 1)
		set_cpus_allowed_ptr(current, cpumask_of(1));
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), APC_LEVEL);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static void expect_irql(struct kunit *test, u8 irql)
{
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), irql);
	KUNIT_EXPECT_EQ(test, irqs_disabled(), irql > DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, preempt_count() != 0, irql >= DISPATCH_LEVEL);
}

static void apc_level_raised_and_lowered_restored(struct kunit *test)
{
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), APC_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), DISPATCH_LEVEL);
	ke_lower_irql(DISPATCH_LEVEL);
	expect_irql(test, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), DISPATCH_LEVEL);
	ke_lower_irql(DISPATCH_LEVEL);
	expect_irql(test, DISPATCH_LEVEL);
	ke_lower_irql(APC_LEVEL);
	expect_irql(test, APC_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), APC_LEVEL);
	expect_irql(test, SYNCH_LEVEL);
	ke_lower_irql(APC_LEVEL);
	expect_irql(test, APC_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	expect_irql(test, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), PASSIVE_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), PASSIVE_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	expect_irql(test, PASSIVE_LEVEL);
}

static void raised_from_apc_level_lowered_below_it(struct kunit *test)
{
	u8 irql_above, old_irql;

	for (irql_above = DISPATCH_LEVEL; irql_above <= SYNCH_LEVEL;
	     irql_above += SYNCH_LEVEL - DISPATCH_LEVEL) {
		ke_raise_irql(APC_LEVEL, &old_irql);
		ke_raise_irql(irql_above, &old_irql);
		KUNIT_EXPECT_EQ(test, old_irql, APC_LEVEL);
		ke_lower_irql(PASSIVE_LEVEL);
		expect_irql(test, PASSIVE_LEVEL);
		ke_raise_irql(irql_above, &old_irql);
		KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
		ke_lower_irql(APC_LEVEL);
		expect_irql(test, APC_LEVEL);
		ke_lower_irql(PASSIVE_LEVEL);
		expect_irql(test, PASSIVE_LEVEL);
	}
}

static void raise_on_cpu(struct kunit *test, unsigned int cpu, u8 irql)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), irql);
	ke_lower_irql(irql);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), irql);
	ke_lower_irql(irql);
	expect_irql(test, irql);
}

static void apc_level_on_each_cpu_not_reported_passive(struct kunit *test)
{
	u8 old_irql;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	for (i = 0; i < 3; i++) {
		raise_on_cpu(test, TEST_CPU, PASSIVE_LEVEL);
		raise_on_cpu(test, 1, PASSIVE_LEVEL);
		ke_raise_irql(APC_LEVEL, &old_irql);
		raise_on_cpu(test, TEST_CPU, APC_LEVEL);
		raise_on_cpu(test, 1, APC_LEVEL);
		ke_lower_irql(old_irql);
	}
	raise_on_cpu(test, TEST_CPU, PASSIVE_LEVEL);
}

static struct kunit_case ke_irql_test_cases[] = {
	KUNIT_CASE(irql_raised_and_lowered_restored),
	KUNIT_CASE(irql_raised_in_steps_each_level_set),
	KUNIT_CASE(raising_functions_old_irql_returned),
	KUNIT_CASE(softirqs_disabled_by_linux_irql_dispatch),
	KUNIT_CASE(interrupt_context_irql_reported),
	KUNIT_CASE(interrupt_ends_thread_irql_restored),
	KUNIT_CASE(dispatch_level_no_softirq_and_no_preemption),
	KUNIT_CASE(irql_lowered_pending_softirqs_run),
	KUNIT_CASE(raise_to_lower_irql_refused),
	KUNIT_CASE(lower_to_higher_irql_refused),
	KUNIT_CASE(sleep_at_dispatch_level_reported),
	KUNIT_CASE(apc_level_thread_migrated_kept),
	KUNIT_CASE(apc_level_raised_and_lowered_restored),
	KUNIT_CASE(raised_from_apc_level_lowered_below_it),
	KUNIT_CASE(apc_level_on_each_cpu_not_reported_passive),
	{}
};

static struct kunit_suite ke_irql_test_suite = {
	.name = "ntklog_ke_irql",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ke_irql_test_cases,
};

kunit_test_suite(ke_irql_test_suite);
