/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The acquire functions of one lock type and one variant: see functions.h. The slow paths get the
 * return value of their caller as an argument and return it, so that the caller need not save it.
 */

static notrace noinline unsigned long HELPER(contended)(ntklog_lock_t *lock, unsigned long result)
{
	struct ntklog_spin_lock_wait_start wait_start;

	ntklog_start_spin_lock_wait(&wait_start);
	lock_contended(&lock->dep_map, _RET_IP_);
	/* The kernel's operation tries once more and then waits in its slow path. */
	KERNEL_OPERATION(lock)(lock);
	lock_acquired(&lock->dep_map, _RET_IP_);
	ntklog_sparse_release(lock);
	TRACK_ACQUIRE_AFTER_WAIT(lock, &wait_start);
	return result;
}

static notrace noinline
unsigned long HELPER(acquired_slow)(ntklog_lock_t *lock, unsigned long result)
{
	TRACK_ACQUIRE_SLOW(lock);
	return result;
}

static __always_inline unsigned long HELPER(acquire)(ntklog_lock_t *lock, unsigned long result)
{
	if (unlikely(!TRY_ACQUIRE_FAST(lock)))
		return HELPER(contended)(lock, result);
	lock_acquired(&lock->dep_map, _RET_IP_);
	if (unlikely(!TRACK_ACQUIRE_FAST(lock)))
		return HELPER(acquired_slow)(lock, result);
	return result;
}

static __always_inline unsigned long HELPER(try_acquire)(ntklog_lock_t *lock)
{
	if (!KERNEL_OPERATION(trylock)(lock))
		return 0;
	LOCKDEP_ACQUIRE(&lock->dep_map, 0, 1, _RET_IP_);
	if (unlikely(!TRACK_ACQUIRE_FAST(lock)))
		return HELPER(acquired_slow)(lock, 1);
	return 1;
}

static notrace noinline __used __noendbr void REPLACEMENT(lock)(ntklog_lock_t *lock)
{
	preempt_disable();
	LOCKDEP_ACQUIRE(&lock->dep_map, 0, 0, _RET_IP_);
	HELPER(acquire)(lock, 0);
}

static notrace noinline __used __noendbr void REPLACEMENT(lock_irq)(ntklog_lock_t *lock)
{
	local_irq_disable();
	preempt_disable();
	LOCKDEP_ACQUIRE(&lock->dep_map, 0, 0, _RET_IP_);
	HELPER(acquire)(lock, 0);
}

static notrace noinline __used __noendbr
unsigned long REPLACEMENT(lock_irqsave)(ntklog_lock_t *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	LOCKDEP_ACQUIRE(&lock->dep_map, 0, 0, _RET_IP_);
	return HELPER(acquire)(lock, flags);
}

static notrace noinline __used __noendbr void REPLACEMENT(lock_bh)(ntklog_lock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	LOCKDEP_ACQUIRE(&lock->dep_map, 0, 0, _RET_IP_);
	HELPER(acquire)(lock, 0);
}

static notrace noinline __used __noendbr int REPLACEMENT(trylock)(ntklog_lock_t *lock)
{
	preempt_disable();
	if (HELPER(try_acquire)(lock))
		return 1;
	preempt_enable();
	return 0;
}

#ifdef WITH_LOCK_IRQ_DISABLE
static notrace noinline __used __noendbr void REPLACEMENT(lock_irq_disable)(ntklog_lock_t *lock)
{
	local_interrupt_disable();
	preempt_disable();
	LOCKDEP_ACQUIRE(&lock->dep_map, 0, 0, _RET_IP_);
	HELPER(acquire)(lock, 0);
}
#endif

#ifdef WITH_TRYLOCK_BH
static notrace noinline __used __noendbr int REPLACEMENT(trylock_bh)(ntklog_lock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	if (HELPER(try_acquire)(lock))
		return 1;
	__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	return 0;
}
#endif

#ifdef WITH_LOCK_NESTED
static notrace noinline __used __noendbr
void REPLACEMENT(lock_nested)(ntklog_lock_t *lock, int subclass)
{
	preempt_disable();
	LOCKDEP_ACQUIRE(&lock->dep_map, subclass, 0, _RET_IP_);
	HELPER(acquire)(lock, 0);
}
#endif

#ifdef WITH_LOCK_NEST_LOCK
static notrace noinline __used __noendbr
unsigned long REPLACEMENT(lock_irqsave_nested)(ntklog_lock_t *lock, int subclass)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	LOCKDEP_ACQUIRE(&lock->dep_map, subclass, 0, _RET_IP_);
	return HELPER(acquire)(lock, flags);
}

static notrace noinline __used __noendbr
void REPLACEMENT(lock_nest_lock)(ntklog_lock_t *lock, struct lockdep_map *nest_lock)
{
	preempt_disable();
	lock_acquire_exclusive(&lock->dep_map, 0, 0, nest_lock, _RET_IP_);
	HELPER(acquire)(lock, 0);
}
#endif

#undef TRACK_ACQUIRE_FAST
#undef TRACK_ACQUIRE_SLOW
#undef TRACK_ACQUIRE_AFTER_WAIT
