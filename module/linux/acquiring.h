/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that acquire one kind of lock in one way: see functions.h. ACQUIRED(lock) is the
 * hook of one had at once, WAITED(lock, query) of one waited for.
 */

static notrace noinline void PART(wait)(ntklog_lock_t *lock)
{
	struct ntklog_spin_lock_query query;

	ntklog_query_spin_lock(&query);
	/* The kernel's own slow path: paravirtual, with its tracepoints of contention. */
	DO(lock)(lock);
	ntklog_owned_by_caller(lock);
	WAITED(lock, &query);
}

static __always_inline void PART(acquire)(ntklog_lock_t *lock)
{
	if (likely(TAKE(lock)))
		ACQUIRED(lock);
	else
		PART(wait)(lock);
}

static __always_inline bool PART(try)(ntklog_lock_t *lock)
{
	if (!DO(trylock)(lock))
		return false;
	ACQUIRED(lock);
	return true;
}

static notrace noinline __used void LOCK(lock)(ntklog_lock_t *lock)
{
	preempt_disable();
	PART(acquire)(lock);
}

static notrace noinline __used void LOCK(lock_irq)(ntklog_lock_t *lock)
{
	local_irq_disable();
	preempt_disable();
	PART(acquire)(lock);
}

static notrace noinline __used unsigned long LOCK(lock_irqsave)(ntklog_lock_t *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	PART(acquire)(lock);
	return flags;
}

static notrace noinline __used void LOCK(lock_bh)(ntklog_lock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	PART(acquire)(lock);
}

static notrace noinline __used int LOCK(trylock)(ntklog_lock_t *lock)
{
	preempt_disable();
	if (PART(try)(lock))
		return 1;
	preempt_enable();
	return 0;
}

#ifdef WITH_LOCK_IRQ_DISABLE
/* Interrupts are off until as many of these are undone. */
static notrace noinline __used void LOCK(lock_irq_disable)(ntklog_lock_t *lock)
{
	local_interrupt_disable();
	preempt_disable();
	PART(acquire)(lock);
}
#endif

#ifdef WITH_TRYLOCK_BH
static noinline notrace __used int LOCK(trylock_bh)(ntklog_lock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	if (PART(try)(lock))
		return 1;
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	return 0;
}
#endif

#ifdef WITH_LOCK_NESTED
/* The class is lockdep's affair. */
static noinline notrace __used void LOCK(lock_nested)(ntklog_lock_t *lock, int subclass)
{
	preempt_disable();
	PART(acquire)(lock);
}
#endif

#undef ACQUIRED
#undef WAITED
