/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of one kind of lock, included once for each: ntklog_lock_t is its type, LOCK()
 * makes a name, ACQUIRE, TRY and RELEASE are what all of a kind have in common. They differ in
 * what is switched off around it. _RET_IP_ is who called the kernel's function.
 */

static notrace noinline __used void LOCK(lock)(ntklog_lock_t *lock)
{
	preempt_disable();
	ACQUIRE(lock);
}

static notrace noinline __used void LOCK(lock_irq)(ntklog_lock_t *lock)
{
	local_irq_disable();
	preempt_disable();
	ACQUIRE(lock);
}

static notrace noinline __used unsigned long LOCK(lock_irqsave)(ntklog_lock_t *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	ACQUIRE(lock);
	return flags;
}

static notrace noinline __used void LOCK(lock_bh)(ntklog_lock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	ACQUIRE(lock);
}

static notrace noinline __used int LOCK(trylock)(ntklog_lock_t *lock)
{
	preempt_disable();
	if (TRY(lock))
		return 1;
	preempt_enable();
	return 0;
}

static notrace noinline __used void LOCK(unlock)(ntklog_lock_t *lock)
{
	RELEASE(lock);
	preempt_enable();
}

static notrace noinline __used void LOCK(unlock_irq)(ntklog_lock_t *lock)
{
	RELEASE(lock);
	local_irq_enable();
	preempt_enable();
}

static notrace noinline __used
void LOCK(unlock_irqrestore)(ntklog_lock_t *lock, unsigned long flags)
{
	RELEASE(lock);
	local_irq_restore(flags);
	preempt_enable();
}

static notrace noinline __used void LOCK(unlock_bh)(ntklog_lock_t *lock)
{
	RELEASE(lock);
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
}

#undef ntklog_lock_t
#undef LOCK
#undef ACQUIRE
#undef TRY
#undef RELEASE
