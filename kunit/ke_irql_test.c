// SPDX-License-Identifier: GPL-2.0-only
/*
 * IRQL, as its callers see it. The numbers are those of the facts in
 * Documentation/design.rst. As in ke_test.c, some tests misuse it on purpose.
 */

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <ntklog/irql.h>

#include "fixture.h"

/* I1 */

static void irql_goes_up_and_comes_back(struct kunit *test)
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

static void irql_goes_up_and_down_in_steps(struct kunit *test)
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

static void raising_functions_return_the_irql_before(struct kunit *test)
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

static void linux_own_disabling_of_softirqs_is_dispatch_level(struct kunit *test)
{
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* I2 */

static void note_irql(void *data)
{
	u8 *irql = data;

	irql[0] = ke_get_current_irql();
	irql[1] = ke_raise_irql_to_synch_level();
	irql[2] = ke_get_current_irql();
	ke_lower_irql(irql[1]);
	irql[3] = ke_get_current_irql();
}

static void interrupts_have_their_irql_by_themselves(struct kunit *test)
{
	u8 irql[4];

	test_run_in_hardirq(note_irql, irql);
	KUNIT_EXPECT_GE(test, irql[0], 3);
	KUNIT_EXPECT_EQ(test, irql[1], irql[0]);
	KUNIT_EXPECT_EQ(test, irql[2], SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, irql[3], irql[0]);

	test_run_in_softirq(note_irql, irql);
	KUNIT_EXPECT_EQ(test, irql[0], DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, irql[1], irql[0]);
	KUNIT_EXPECT_EQ(test, irql[2], SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, irql[3], irql[0]);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static bool interrupting_done;
static u8 interrupting_irql[4];

static enum hrtimer_restart interrupting_run(struct hrtimer *timer)
{
	note_irql(interrupting_irql);
	WRITE_ONCE(interrupting_done, true);
	return HRTIMER_NORESTART;
}

/* I2, "whatever the thread had" */
static void an_interrupt_leaves_the_irql_that_it_interrupts(struct kunit *test)
{
	struct hrtimer timer;
	u8 old_irql;

	WRITE_ONCE(interrupting_done, false);
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = interrupting_run;
	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(interrupting_done))
		cpu_relax();
	KUNIT_EXPECT_EQ(test, interrupting_irql[0], DIRQL_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

/* I3 */

static bool tasklet_ran;

static void note_tasklet(struct tasklet_struct *tasklet)
{
	WRITE_ONCE(tasklet_ran, true);
}

static void no_softirq_and_no_preemption_at_dispatch_level(struct kunit *test)
{
	struct tasklet_struct tasklet;
	u8 old_irql;

	WRITE_ONCE(tasklet_ran, false);
	tasklet_setup(&tasklet, note_tasklet);
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

static void pending_softirqs_run_when_lowered_from_above(struct kunit *test)
{
	struct tasklet_struct tasklet;
	u8 old_irql;

	WRITE_ONCE(tasklet_ran, false);
	tasklet_setup(&tasklet, note_tasklet);
	old_irql = ke_raise_irql_to_synch_level();
	tasklet_schedule(&tasklet);
	ke_lower_irql(DISPATCH_LEVEL);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(tasklet_ran));
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(tasklet_ran));
	tasklet_kill(&tasklet);
}

/* I4; what warns is in tests/steps/kunit.sh */

static void raising_down_changes_nothing(struct kunit *test)
{
	u8 old_irql, unused;

	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	ke_raise_irql(APC_LEVEL, &unused);
	KUNIT_EXPECT_EQ(test, unused, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

static void lowering_up_changes_nothing(struct kunit *test)
{
	ke_lower_irql(DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* I5; the complaint is expected in tests/steps/kunit.sh */

static void sleep_at_dispatch_level_is_seen(struct kunit *test)
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

/* I6 */

static int note_other_thread(void *data)
{
	*(u8 *)data = ke_get_current_irql();
	return 0;
}

static void apc_level_follows_the_thread(struct kunit *test)
{
	struct test_thread other;
	u8 old_irql, other_irql = 0xFF;

	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_TRUE(test, preemptible());
	test_thread_start(test, &other, TEST_CPU, note_other_thread, &other_irql);
	test_thread_join(&other);
	KUNIT_EXPECT_EQ(test, other_irql, PASSIVE_LEVEL);
	if (num_online_cpus() > 1)
		set_cpus_allowed_ptr(current, cpumask_of(1));
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), APC_LEVEL);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static void expect_level(struct kunit *test, u8 irql)
{
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), irql);
	KUNIT_EXPECT_EQ(test, irqs_disabled(), irql > DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, preempt_count() != 0, irql >= DISPATCH_LEVEL);
}

static void apc_level_is_come_back_to(struct kunit *test)
{
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), APC_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), DISPATCH_LEVEL);
	ke_lower_irql(DISPATCH_LEVEL);
	expect_level(test, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), DISPATCH_LEVEL);
	ke_lower_irql(DISPATCH_LEVEL);
	expect_level(test, DISPATCH_LEVEL);
	ke_lower_irql(APC_LEVEL);
	expect_level(test, APC_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), APC_LEVEL);
	expect_level(test, SYNCH_LEVEL);
	ke_lower_irql(APC_LEVEL);
	expect_level(test, APC_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	expect_level(test, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), PASSIVE_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), PASSIVE_LEVEL);
	ke_lower_irql(PASSIVE_LEVEL);
	expect_level(test, PASSIVE_LEVEL);
}

static void apc_level_is_left_from_above(struct kunit *test)
{
	u8 above, old_irql;

	for (above = DISPATCH_LEVEL; above <= SYNCH_LEVEL; above += SYNCH_LEVEL - DISPATCH_LEVEL) {
		ke_raise_irql(APC_LEVEL, &old_irql);
		ke_raise_irql(above, &old_irql);
		KUNIT_EXPECT_EQ(test, old_irql, APC_LEVEL);
		/* Below what it was at before it raised. */
		ke_lower_irql(PASSIVE_LEVEL);
		expect_level(test, PASSIVE_LEVEL);
		/* And to APC_LEVEL, at which it has not been. */
		ke_raise_irql(above, &old_irql);
		KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
		ke_lower_irql(APC_LEVEL);
		expect_level(test, APC_LEVEL);
		ke_lower_irql(PASSIVE_LEVEL);
		expect_level(test, PASSIVE_LEVEL);
	}
}

static void raise_on(struct kunit *test, unsigned int cpu, u8 irql)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_dpc_level(), irql);
	ke_lower_irql(irql);
	KUNIT_EXPECT_EQ(test, ke_raise_irql_to_synch_level(), irql);
	ke_lower_irql(irql);
	expect_level(test, irql);
}

static void no_processor_takes_it_for_passive(struct kunit *test)
{
	u8 old_irql;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	for (i = 0; i < 3; i++) {
		raise_on(test, TEST_CPU, PASSIVE_LEVEL);
		raise_on(test, 1, PASSIVE_LEVEL);
		ke_raise_irql(APC_LEVEL, &old_irql);
		raise_on(test, TEST_CPU, APC_LEVEL);
		raise_on(test, 1, APC_LEVEL);
		ke_lower_irql(old_irql);
	}
	raise_on(test, TEST_CPU, PASSIVE_LEVEL);
}

static struct kunit_case ke_irql_test_cases[] = {
	KUNIT_CASE(irql_goes_up_and_comes_back),
	KUNIT_CASE(irql_goes_up_and_down_in_steps),
	KUNIT_CASE(raising_functions_return_the_irql_before),
	KUNIT_CASE(linux_own_disabling_of_softirqs_is_dispatch_level),
	KUNIT_CASE(interrupts_have_their_irql_by_themselves),
	KUNIT_CASE(an_interrupt_leaves_the_irql_that_it_interrupts),
	KUNIT_CASE(no_softirq_and_no_preemption_at_dispatch_level),
	KUNIT_CASE(pending_softirqs_run_when_lowered_from_above),
	KUNIT_CASE(raising_down_changes_nothing),
	KUNIT_CASE(lowering_up_changes_nothing),
	KUNIT_CASE(sleep_at_dispatch_level_is_seen),
	KUNIT_CASE(apc_level_follows_the_thread),
	KUNIT_CASE(apc_level_is_come_back_to),
	KUNIT_CASE(apc_level_is_left_from_above),
	KUNIT_CASE(no_processor_takes_it_for_passive),
	{}
};

static struct kunit_suite ke_irql_test_suite = {
	.name = "ntklog_ke_irql",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ke_irql_test_cases,
};

kunit_test_suite(ke_irql_test_suite);
