// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test: compares the replacements of Linux' lock functions with the originals. At module load,
 * when no function is redirected, the test calls the functions of ntklog_selftest_cases on a lock
 * of this file and saves the resulting states. A replacement must leave the same state, and one
 * slot while the lock is held. In mode "sampled" each replacement is tested twice: with an
 * acquisition that is not chosen, which leaves no slot, and with a chosen one. NMIs and waits are
 * not tested.
 */

#include <linux/bottom_half.h>
#include <linux/instruction_pointer.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "../perf/spin_lock.h"
#include "../perf/spin_lock_sampled.h"
#include "kind.h"
#include "selftest.h"

#ifdef NTKLOG_CAN_REDIRECT_SPINNING

enum ntklog_selftest_context_type {
	IN_TASK,
	SOFTIRQS_OFF,
	INTERRUPTS_OFF,
	IN_INTERRUPT,
	SELFTEST_CONTEXT_COUNT,
};

#define ALL_CONTEXT_BITS	(BIT(IN_TASK) | BIT(SOFTIRQS_OFF) | BIT(INTERRUPTS_OFF) | \
				 BIT(IN_INTERRUPT))
/* For functions whose release enables interrupts or softirqs. */
#define TASK_CONTEXT_BITS	(BIT(IN_TASK) | BIT(SOFTIRQS_OFF))

static const char * const ntklog_selftest_context_names[] = {
	[IN_TASK] = "thread",
	[SOFTIRQS_OFF] = "softirqs-off",
	[INTERRUPTS_OFF] = "interrupts-off",
	[IN_INTERRUPT] = "interrupt",
};

/*
 * @preempt_count, @softirq_count and @slot_count are increases since the start of the test.
 * @slot_count is -1 if the topmost slot belongs to another lock.
 */
struct ntklog_selftest_state {
	u32 word;
	int preempt_count;
	int softirq_count;
	int irqs_are_off;
	int slot_count;
};

struct ntklog_selftest_result {
	struct ntklog_selftest_state held_state;
	struct ntklog_selftest_state released_state;
};

/* The case that runs. Protected by ntklog_linux_mutex. */
static struct ntklog_running_test {
	union {
		raw_spinlock_t spin;
		rwlock_t rw;
		u32 word;
	} lock;
	int preempt_count;
	int softirq_count;
	u32 slot_count;
	enum ntklog_hook_variant variant;
	enum ntklog_choice_rule choice_rule;
	struct ntklog_selftest_result result;
} ntklog_running_test;

/* Called with interrupts off. */
static const void *ntklog_find_topmost_lock(void)
{
	return ntklog_running_test.variant == NTKLOG_VARIANT_SAMPLE ?
	       ntklog_find_topmost_sampled_spin_lock() : ntklog_find_topmost_spin_lock();
}

/* Not inline, because of objtool's warning "PUSHF stack exhausted". */
static notrace noinline void ntklog_save_selftest_state(struct ntklog_selftest_state *state)
{
	int irqs_are_off = irqs_disabled();
	unsigned long flags;

	state->preempt_count =
		(int)(preempt_count() & PREEMPT_MASK) - ntklog_running_test.preempt_count;
	state->softirq_count = (int)softirq_count() - ntklog_running_test.softirq_count;
	state->irqs_are_off = irqs_are_off;
	state->word = READ_ONCE(ntklog_running_test.lock.word);
	/* Turn interrupts off, so that the slots of an interrupt handler are not counted. */
	local_irq_save(flags);
	state->slot_count = ntklog_count_spin_lock_slots_in_use(smp_processor_id()) -
			    ntklog_running_test.slot_count;
	if (state->slot_count && ntklog_find_topmost_lock() != &ntklog_running_test.lock)
		state->slot_count = -1;
	local_irq_restore(flags);
}

/* Not inline, as ntklog_save_selftest_state(). */
static notrace noinline void ntklog_free_leftover_slots(void)
{
	struct ntklog_time time = ntklog_read_time();
	unsigned long flags;

	local_irq_save(flags);
	while (ntklog_find_topmost_lock() == &ntklog_running_test.lock)
		if (ntklog_running_test.variant == NTKLOG_VARIANT_SAMPLE)
			ntklog_track_sampled_release(&ntklog_running_test.lock,
						     PERF_SPIN_LOCK_LINUX_SPIN, time.low,
						     time.high, _RET_IP_);
		else
			ntklog_track_spin_lock_release_slow(&ntklog_running_test.lock,
							    PERF_SPIN_LOCK_LINUX_SPIN, time.low,
							    time.high, _RET_IP_);
	local_irq_restore(flags);
}

#define SAVE_HELD_STATE	ntklog_save_selftest_state(&ntklog_running_test.result.held_state)

#define CASE(_case, _acquire, _release)						\
static noinline void run_##_case(void)						\
{										\
	unsigned long flags __maybe_unused;					\
										\
	_acquire;								\
	SAVE_HELD_STATE;							\
	_release;								\
}

#define TRY_CASE(_case, _lock, _try, _release)					\
static noinline void run_##_case(void)						\
{										\
	if (_try(_lock)) {							\
		__acquire(_lock);						\
		SAVE_HELD_STATE;						\
		_release(_lock);						\
	} else {								\
		SAVE_HELD_STATE;						\
	}									\
}

#define SPIN	(&ntklog_running_test.lock.spin)
#define RW	(&ntklog_running_test.lock.rw)

CASE(spin, _raw_spin_lock(SPIN), _raw_spin_unlock(SPIN))
CASE(spin_irq, _raw_spin_lock_irq(SPIN), _raw_spin_unlock_irq(SPIN))
CASE(spin_irqsave, flags = _raw_spin_lock_irqsave(SPIN), _raw_spin_unlock_irqrestore(SPIN, flags))
#ifdef raw_spin_lock_irq_disable
CASE(spin_irq_disable, _raw_spin_lock_irq_disable(SPIN), _raw_spin_unlock_irq_enable(SPIN))
#endif
CASE(spin_bh, _raw_spin_lock_bh(SPIN), _raw_spin_unlock_bh(SPIN))
TRY_CASE(spin_try, SPIN, _raw_spin_trylock, _raw_spin_unlock)
TRY_CASE(spin_try_bh, SPIN, _raw_spin_trylock_bh, _raw_spin_unlock_bh)
CASE(read, _raw_read_lock(RW), _raw_read_unlock(RW))
CASE(read_irq, _raw_read_lock_irq(RW), _raw_read_unlock_irq(RW))
CASE(read_irqsave, flags = _raw_read_lock_irqsave(RW), _raw_read_unlock_irqrestore(RW, flags))
CASE(read_bh, _raw_read_lock_bh(RW), _raw_read_unlock_bh(RW))
TRY_CASE(read_try, RW, _raw_read_trylock, _raw_read_unlock)
CASE(write, _raw_write_lock(RW), _raw_write_unlock(RW))
CASE(write_irq, _raw_write_lock_irq(RW), _raw_write_unlock_irq(RW))
CASE(write_irqsave, flags = _raw_write_lock_irqsave(RW), _raw_write_unlock_irqrestore(RW, flags))
CASE(write_bh, _raw_write_lock_bh(RW), _raw_write_unlock_bh(RW))
CASE(write_nested, _raw_write_lock_nested(RW, 1), _raw_write_unlock(RW))
TRY_CASE(write_try, RW, _raw_write_trylock, _raw_write_unlock)

/*
 * @held_before: the lock is held before @acquire_name is called: @acquire_name must fail, and
 *	@release_name is not called
 * @context_bits: contexts to test, bits by enum ntklog_selftest_context_type
 */
static const struct ntklog_selftest_case {
	const char *acquire_name;
	const char *release_name;
	bool held_before;
	const struct ntklog_lock_functions *functions;
	void (*run)(void);
	u8 context_bits;
} ntklog_selftest_cases[] = {
#define TEST(_kind, _lock, _unlock, _run, _contexts, ...)			\
	{ .acquire_name = "_raw_" #_lock, .release_name = "_raw_" #_unlock,	\
	  .functions = &ntklog_linux_##_kind##_lock_functions, .run = run_##_run,	\
	  .context_bits = _contexts, __VA_ARGS__ }
	TEST(spin, spin_lock, spin_unlock, spin, ALL_CONTEXT_BITS),
	TEST(spin, spin_lock_irq, spin_unlock_irq, spin_irq, TASK_CONTEXT_BITS),
	TEST(spin, spin_lock_irqsave, spin_unlock_irqrestore, spin_irqsave, ALL_CONTEXT_BITS),
#ifdef raw_spin_lock_irq_disable
	TEST(spin, spin_lock_irq_disable, spin_unlock_irq_enable, spin_irq_disable,
	     ALL_CONTEXT_BITS),
#endif
	TEST(spin, spin_lock_bh, spin_unlock_bh, spin_bh, TASK_CONTEXT_BITS),
	TEST(spin, spin_trylock, spin_unlock, spin_try, ALL_CONTEXT_BITS),
	TEST(spin, spin_trylock, spin_unlock, spin_try, ALL_CONTEXT_BITS, .held_before = true),
	TEST(spin, spin_trylock_bh, spin_unlock_bh, spin_try_bh, TASK_CONTEXT_BITS),
	TEST(spin, spin_trylock_bh, spin_unlock_bh, spin_try_bh, TASK_CONTEXT_BITS,
	     .held_before = true),
	TEST(rw, read_lock, read_unlock, read, ALL_CONTEXT_BITS),
	TEST(rw, read_lock_irq, read_unlock_irq, read_irq, TASK_CONTEXT_BITS),
	TEST(rw, read_lock_irqsave, read_unlock_irqrestore, read_irqsave, ALL_CONTEXT_BITS),
	TEST(rw, read_lock_bh, read_unlock_bh, read_bh, TASK_CONTEXT_BITS),
	TEST(rw, read_trylock, read_unlock, read_try, ALL_CONTEXT_BITS),
	TEST(rw, read_trylock, read_unlock, read_try, ALL_CONTEXT_BITS, .held_before = true),
	TEST(rw, write_lock, write_unlock, write, ALL_CONTEXT_BITS),
	TEST(rw, write_lock_irq, write_unlock_irq, write_irq, TASK_CONTEXT_BITS),
	TEST(rw, write_lock_irqsave, write_unlock_irqrestore, write_irqsave, ALL_CONTEXT_BITS),
	TEST(rw, write_lock_bh, write_unlock_bh, write_bh, TASK_CONTEXT_BITS),
	TEST(rw, write_lock_nested, write_unlock, write_nested, ALL_CONTEXT_BITS),
	TEST(rw, write_trylock, write_unlock, write_try, ALL_CONTEXT_BITS),
	TEST(rw, write_trylock, write_unlock, write_try, ALL_CONTEXT_BITS, .held_before = true),
#undef TEST
};

/* The states that the originals leave. Written at module load. */
static struct ntklog_selftest_result
ntklog_original_results[ARRAY_SIZE(ntklog_selftest_cases)][SELFTEST_CONTEXT_COUNT];

/*
 * Run the case and save the states. Then undo what a wrong replacement has changed. Called with
 * migration disabled.
 */
static void ntklog_run_case_in_this_context(const struct ntklog_selftest_case *test)
{
	static struct lock_class_key keys[2][SELFTEST_CONTEXT_COUNT] __maybe_unused;
	unsigned int context_index __maybe_unused = in_hardirq() ? 2 : in_serving_softirq();
	bool is_spin = test->functions == &ntklog_linux_spin_lock_functions;
	int count = preempt_count();
	bool irqs_are_off = irqs_disabled();

	ntklog_running_test.preempt_count = count & PREEMPT_MASK;
	ntklog_running_test.softirq_count = softirq_count();
	/* With a common class lockdep would report a lock taken in interrupts and with them on. */
	if (is_spin) {
		raw_spin_lock_init(&ntklog_running_test.lock.spin);
		lockdep_set_class(&ntklog_running_test.lock.spin, &keys[0][context_index]);
	} else {
		rwlock_init(&ntklog_running_test.lock.rw);
		/* LD_WAIT_SPIN: an rwlock may be acquired in hard interrupts without PREEMPT_RT. */
		lockdep_init_map_wait(&ntklog_running_test.lock.rw.dep_map,
				      "ntklog_running_test.lock.rw", &keys[1][context_index], 0,
				      LD_WAIT_SPIN);
	}
	if (test->held_before)
		WRITE_ONCE(ntklog_running_test.lock.word, is_spin ? _Q_LOCKED_VAL : _QW_LOCKED);
	ntklog_running_test.slot_count =
		ntklog_count_spin_lock_slots_in_use(raw_smp_processor_id());
	test->run();
	ntklog_save_selftest_state(&ntklog_running_test.result.released_state);
	ntklog_free_leftover_slots();
	if (preempt_count() != count)
		preempt_count_set(count);
	if (irqs_are_off != irqs_disabled()) {
		if (irqs_are_off)
			local_irq_disable();
		else
			local_irq_enable();
	}
}

static const struct ntklog_selftest_case *ntklog_case_for_interrupt;

static void ntklog_run_case_in_interrupt(struct irq_work *work)
{
	ntklog_run_case_in_this_context(ntklog_case_for_interrupt);
}

static struct irq_work ntklog_selftest_irq_work = IRQ_WORK_INIT_HARD(ntklog_run_case_in_interrupt);

static void ntklog_run_case_in_context(const struct ntklog_selftest_case *test,
				       enum ntklog_selftest_context_type context,
				       struct ntklog_selftest_result *result)
{
	unsigned long flags;

	migrate_disable();
	if (ntklog_running_test.variant == NTKLOG_VARIANT_SAMPLE)
		ntklog_set_choice_rule(ntklog_running_test.choice_rule);
	switch (context) {
	case SOFTIRQS_OFF:
		local_bh_disable();
		ntklog_run_case_in_this_context(test);
		local_bh_enable();
		break;
	case INTERRUPTS_OFF:
		local_irq_save(flags);
		ntklog_run_case_in_this_context(test);
		local_irq_restore(flags);
		break;
	case IN_INTERRUPT:
		ntklog_case_for_interrupt = test;
		irq_work_queue(&ntklog_selftest_irq_work);
		irq_work_sync(&ntklog_selftest_irq_work);
		break;
	default:
		ntklog_run_case_in_this_context(test);
		break;
	}
	if (ntklog_running_test.variant == NTKLOG_VARIANT_SAMPLE)
		ntklog_set_choice_rule(PERF_CHOOSE_BY_RATE);
	migrate_enable();
	*result = ntklog_running_test.result;
}

static bool ntklog_states_are_equal(const struct ntklog_selftest_state *actual,
				    const struct ntklog_selftest_state *expected)
{
	return actual->word == expected->word && actual->preempt_count == expected->preempt_count &&
	       actual->softirq_count == expected->softirq_count &&
	       actual->irqs_are_off == expected->irqs_are_off &&
	       actual->slot_count == expected->slot_count;
}

static void ntklog_print_value(struct seq_file *seq, int actual, int expected)
{
	seq_printf(seq, actual == expected ? " %d" : " %d(%d)", actual, expected);
}

static bool ntklog_report_case(struct seq_file *seq, const char *name,
			       const char *context_name, bool is_held,
			       const struct ntklog_selftest_state *actual,
			       const struct ntklog_selftest_state *expected)
{
	bool is_equal = ntklog_states_are_equal(actual, expected);

	if (!seq)
		return is_equal;
	seq_printf(seq, "%s %s%s%s", name, context_name, is_held ? ",owned" : "",
		   ntklog_running_test.choice_rule == PERF_CHOOSE_ALL ? ",chosen" : "");
	seq_printf(seq, actual->word == expected->word ? " 0x%x" : " 0x%x(0x%x)", actual->word,
		   expected->word);
	ntklog_print_value(seq, actual->preempt_count, expected->preempt_count);
	ntklog_print_value(seq, actual->softirq_count, expected->softirq_count);
	ntklog_print_value(seq, actual->irqs_are_off, expected->irqs_are_off);
	ntklog_print_value(seq, actual->slot_count, expected->slot_count);
	seq_puts(seq, is_equal ? " same\n" : " differs\n");
	return is_equal;
}

static bool ntklog_case_has_context(const struct ntklog_selftest_case *test, unsigned int context)
{
	return test->context_bits & BIT(context);
}

/**
 * ntklog_selftest_init() - save the states that the kernel's functions leave
 *
 * Context: module load, while no function is redirected.
 */
void __init ntklog_selftest_init(void)
{
	unsigned int i, context;

	for (i = 0; i < ARRAY_SIZE(ntklog_selftest_cases); i++)
		for (context = 0; context < SELFTEST_CONTEXT_COUNT; context++)
			if (ntklog_case_has_context(&ntklog_selftest_cases[i], context))
				ntklog_run_case_in_context(&ntklog_selftest_cases[i], context,
							   &ntklog_original_results[i][context]);
}

/* @failed_function: name of a function that an earlier call has found wrong, or NULL. */
static const char *ntklog_run_all_cases(const struct ntklog_lock_functions *functions,
					struct seq_file *seq, const char *failed_function)
{
	bool takes_slot = ntklog_running_test.choice_rule != PERF_CHOOSE_NONE;
	unsigned int i, context;

	for (i = 0; i < ARRAY_SIZE(ntklog_selftest_cases); i++) {
		const struct ntklog_selftest_case *test = &ntklog_selftest_cases[i];

		for (context = 0; context < SELFTEST_CONTEXT_COUNT; context++) {
			struct ntklog_selftest_result expected =
				ntklog_original_results[i][context];
			const char *name = ntklog_selftest_context_names[context];
			struct ntklog_selftest_result result;

			if (test->functions != functions || !ntklog_case_has_context(test, context))
				continue;
			ntklog_run_case_in_context(test, context, &result);
			/* The originals use no slots. */
			expected.held_state.slot_count = takes_slot && !test->held_before;
			if (!ntklog_report_case(seq, test->acquire_name, name, test->held_before,
						&result.held_state, &expected.held_state) &&
			    !failed_function)
				failed_function = test->acquire_name;
			if (test->held_before)
				continue;
			if (!ntklog_report_case(seq, test->release_name, name, false,
						&result.released_state, &expected.released_state) &&
			    !failed_function)
				failed_function = test->release_name;
		}
	}
	return failed_function;
}

/**
 * ntklog_test_replacements() - compare the replacements of a kind with the kernel's functions
 * @functions: lock functions of the kind, which are redirected
 * @seq: output file, which gets a line for each run of a function; or NULL
 *
 * Context: task; may sleep. Called with ntklog_linux_mutex held.
 * Return: NULL if all states are equal, or the name of the first function that differs.
 */
const char *ntklog_test_replacements(const struct ntklog_lock_functions *functions,
				     struct seq_file *seq)
{
	const char *failed_function = NULL;

	ntklog_running_test.variant = functions->variant;
	ntklog_running_test.choice_rule = PERF_CHOOSE_BY_RATE;
	if (functions->variant != NTKLOG_VARIANT_SAMPLE)
		return ntklog_run_all_cases(functions, seq, NULL);
	ntklog_running_test.choice_rule = PERF_CHOOSE_NONE;
	failed_function = ntklog_run_all_cases(functions, seq, NULL);
	ntklog_running_test.choice_rule = PERF_CHOOSE_ALL;
	return ntklog_run_all_cases(functions, seq, failed_function);
}

#endif /* NTKLOG_CAN_REDIRECT_SPINNING */
