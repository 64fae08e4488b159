/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of one kind of lock, included once for each: LOCK_T is its type, LOCK() makes a
 * name, ACQUIRE, TRY and RELEASE are what all of a kind have in common. They differ in what is
 * switched off around it. _RET_IP_ is who called the kernel's function.
 */

NTKLOG_REDIRECTED void LOCK(lock)(LOCK_T *lock)
{
	preempt_disable();
	ACQUIRE(lock);
}

NTKLOG_REDIRECTED void LOCK(lock_irq)(LOCK_T *lock)
{
	local_irq_disable();
	preempt_disable();
	ACQUIRE(lock);
}

NTKLOG_REDIRECTED unsigned long LOCK(lock_irqsave)(LOCK_T *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	ACQUIRE(lock);
	return flags;
}

NTKLOG_REDIRECTED void LOCK(lock_bh)(LOCK_T *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	ACQUIRE(lock);
}

NTKLOG_REDIRECTED int LOCK(trylock)(LOCK_T *lock)
{
	preempt_disable();
	if (TRY(lock))
		return 1;
	preempt_enable();
	return 0;
}

NTKLOG_REDIRECTED void LOCK(unlock)(LOCK_T *lock)
{
	RELEASE(lock);
	preempt_enable();
}

NTKLOG_REDIRECTED void LOCK(unlock_irq)(LOCK_T *lock)
{
	RELEASE(lock);
	local_irq_enable();
	preempt_enable();
}

NTKLOG_REDIRECTED void LOCK(unlock_irqrestore)(LOCK_T *lock, unsigned long flags)
{
	RELEASE(lock);
	local_irq_restore(flags);
	preempt_enable();
}

NTKLOG_REDIRECTED void LOCK(unlock_bh)(LOCK_T *lock)
{
	RELEASE(lock);
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
}

#undef LOCK_T
#undef LOCK
#undef ACQUIRE
#undef TRY
#undef RELEASE
