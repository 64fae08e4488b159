/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that release one kind of lock in one way: see functions.h. RELEASED(lock, time)
 * is the hook, LOOK_AT(lock) what it wants to know of the lock before.
 */

static __always_inline void PART(release)(ntklog_lock_t *lock)
{
	struct ntklog_time time = ntklog_read_time();
	bool is_waited_for __maybe_unused = LOOK_AT(lock);

	ntklog_released_for_caller(lock);
	DO(unlock)(lock);
	/* The lock may be gone already; only its address is looked at. */
	RELEASED(lock, time);
}

static notrace noinline __used void LOCK(unlock)(ntklog_lock_t *lock)
{
	PART(release)(lock);
	preempt_enable();
}

static notrace noinline __used void LOCK(unlock_irq)(ntklog_lock_t *lock)
{
	PART(release)(lock);
	local_irq_enable();
	preempt_enable();
}

static notrace noinline __used
void LOCK(unlock_irqrestore)(ntklog_lock_t *lock, unsigned long flags)
{
	PART(release)(lock);
	local_irq_restore(flags);
	preempt_enable();
}

#ifdef WITH_LOCK_IRQ_DISABLE
static notrace noinline __used void LOCK(unlock_irq_enable)(ntklog_lock_t *lock)
{
	PART(release)(lock);
	local_interrupt_enable();
	preempt_enable();
}
#endif

static notrace noinline __used void LOCK(unlock_bh)(ntklog_lock_t *lock)
{
	PART(release)(lock);
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
}

#undef RELEASED
#undef LOOK_AT
