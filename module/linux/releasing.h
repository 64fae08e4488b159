/* SPDX-License-Identifier: GPL-2.0-only */
/* The release functions of one lock type and one variant: see functions.h. */

static notrace noinline
unsigned long HELPER(release_slow)(ntklog_lock_t *lock, unsigned long caller, unsigned long result)
{
	struct ntklog_time time = ntklog_read_time();
	u8 mode = ACQUIRE_MODE_AT_RELEASE(lock);

	ntklog_sparse_acquire(lock);
	KERNEL_OPERATION(unlock)(lock);
	/* The lock may be freed already. TRACK_RELEASE_SLOW() uses only its address. */
	TRACK_RELEASE_SLOW(lock, mode, time, caller);
	return result;
}

/* _RET_IP_ is the caller of the replacement. An argument would be loaded on the fast path, too. */
static __always_inline unsigned long HELPER(release)(ntklog_lock_t *lock, unsigned long result)
{
	LOCKDEP_RELEASE(&lock->dep_map, _RET_IP_);
	if (unlikely(!TRACK_RELEASE_FAST(lock)))
		return HELPER(release_slow)(lock, _RET_IP_, result);
	ntklog_sparse_acquire(lock);
	KERNEL_OPERATION(unlock)(lock);
	return result;
}

static notrace noinline __used __noendbr void REPLACEMENT(unlock)(ntklog_lock_t *lock)
{
	HELPER(release)(lock, 0);
	preempt_enable();
}

static notrace noinline __used __noendbr void REPLACEMENT(unlock_irq)(ntklog_lock_t *lock)
{
	HELPER(release)(lock, 0);
	local_irq_enable();
	preempt_enable();
}

static notrace noinline __used __noendbr
void REPLACEMENT(unlock_irqrestore)(ntklog_lock_t *lock, unsigned long flags)
{
	flags = HELPER(release)(lock, flags);
	local_irq_restore(flags);
	preempt_enable();
}

#ifdef WITH_LOCK_IRQ_DISABLE
static notrace noinline __used __noendbr void REPLACEMENT(unlock_irq_enable)(ntklog_lock_t *lock)
{
	HELPER(release)(lock, 0);
	local_interrupt_enable();
	preempt_enable();
}
#endif

static notrace noinline __used __noendbr void REPLACEMENT(unlock_bh)(ntklog_lock_t *lock)
{
	HELPER(release)(lock, 0);
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
}

#undef TRACK_RELEASE_FAST
#undef TRACK_RELEASE_SLOW
