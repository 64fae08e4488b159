/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of one kind of lock, included once for each: ntklog_lock_t is its type, LOCK()
 * makes the name of one that is in place of the kernel's, PART() that of a part of them, MODE is
 * the record's AcquireMode. DO(lock), DO(trylock) and DO(unlock) are what the kernel does with
 * the lock's word, TAKE() how it begins to. They differ in what is switched off around it. _RET_IP_
 * is who called the kernel's function.
 */

static notrace noinline void PART(wait)(ntklog_lock_t *lock)
{
	struct ntklog_spin_lock_query query;

	ntklog_query_spin_lock(&query);
	/* The kernel's own slow path: paravirtual, with its tracepoints of contention. */
	DO(lock)(lock);
	ntklog_owned_by_caller(lock);
	ntklog_linux_waited(lock, MODE, &query);
}

static __always_inline void PART(acquire)(ntklog_lock_t *lock)
{
	if (likely(TAKE(lock)))
		ntklog_track_spin_lock_acquire(lock);
	else
		PART(wait)(lock);
}

static __always_inline bool PART(try)(ntklog_lock_t *lock)
{
	if (!DO(trylock)(lock))
		return false;
	ntklog_track_spin_lock_acquire(lock);
	return true;
}

static __always_inline void PART(release)(ntklog_lock_t *lock)
{
	struct ntklog_time time = ntklog_read_time();

	ntklog_released_for_caller(lock);
	DO(unlock)(lock);
	/* The lock may be gone already; only its address is looked at. */
	ntklog_log_spin_lock_release(lock, MODE, time);
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

static notrace noinline __used void LOCK(unlock_bh)(ntklog_lock_t *lock)
{
	PART(release)(lock);
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
}

#undef ntklog_lock_t
#undef LOCK
#undef PART
#undef MODE
#undef DO
#undef TAKE
