// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks of Linux' sleeping locks. Most functions have an entry hook, which returns before the
 * function sleeps; so a task never sleeps with a frame of this module on its stack. A trylock
 * function is redirected, because its result is known only at its end. The replacement does not
 * sleep; it calls the original behind the instruction that ftrace has patched.
 *
 * The main release function of each lock is mandatory, because slots would not be freed without its
 * hook.
 */

#include <linux/hash.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/preempt.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/stringify.h>
#include <linux/wait.h>
#include <linux/ww_mutex.h>

#include "../ground/compat.h"
#include "../perf/sleeping_lock.h"
#include "kind.h"
#include "sleeping_lock.h"

#ifdef NTKLOG_CAN_HOOK_SLEEPING

#if defined(CONFIG_X86_64) && defined(CONFIG_SMP)
#include "sleeping_fast_path.h"
#else
/* Without a fast path in assembler, the trampoline only calls the hook. */
#define NTKLOG_ASM_CONSTANT(_name, _value)	static_assert(true)
#define DEFINE_ACQUIRE_TRAMPOLINE(_hook)			NTKLOG_DEFINE_HOOK_TRAMPOLINE(_hook)
#define DEFINE_RELEASE_TRAMPOLINE(_hook, ...)			NTKLOG_DEFINE_HOOK_TRAMPOLINE(_hook)
#endif

#define CLASS_BITS(_class)		NTKLOG_SLEEPING_CLASS(_class)
#define EXCLUSIVE_ACTION(_class)	(CLASS_BITS(_class) | NTKLOG_SLEEPING_EXCLUSIVE)
#define SHARED_ACTION(_class)	(CLASS_BITS(_class) | NTKLOG_SLEEPING_SHARED)

/* The low bits of a lock's owner word are flags. */
#define OWNER_WORD_TO_TASK(_word)	((const struct task_struct *)((_word) & ~7UL))

static const struct task_struct *ntklog_get_mutex_owner(const void *lock)
{
	return OWNER_WORD_TO_TASK(atomic_long_read(&((const struct mutex *)lock)->owner));
}

/*
 * Each reader stores itself in the owner word when it acquires the lock. The word may therefore
 * name a reader that has already released the lock.
 */
static const struct task_struct *ntklog_get_rwsem_owner(const void *lock)
{
	return OWNER_WORD_TO_TASK(atomic_long_read(&((const struct rw_semaphore *)lock)->owner));
}

static const struct task_struct *ntklog_get_rt_mutex_owner(const void *lock)
{
	const struct rt_mutex *mutex = lock;

	return OWNER_WORD_TO_TASK((unsigned long)READ_ONCE(mutex->rtmutex.owner));
}

/*
 * The task that acquired a semaphore last, by hash of the address. A semaphore does not record its
 * owner, and another task often releases it: the console semaphore is handed over. Any task may
 * overwrite an entry, without a lock, and an entry may be read while it is half written. The task
 * that a wrong entry names has no slot for the lock, so the release is then unmatched.
 */
#define SEMAPHORE_OWNER_HASH_BITS	6

static struct ntklog_semaphore_entry {
	const void *lock;
	const struct task_struct *owner;
} ntklog_semaphore_owners[1 << SEMAPHORE_OWNER_HASH_BITS];

static struct ntklog_semaphore_entry *ntklog_find_semaphore_entry(const void *lock)
{
	return &ntklog_semaphore_owners[hash_ptr(lock, SEMAPHORE_OWNER_HASH_BITS)];
}

static const struct task_struct *ntklog_get_semaphore_owner(const void *lock)
{
	const struct ntklog_semaphore_entry *entry = ntklog_find_semaphore_entry(lock);

	return READ_ONCE(entry->lock) == lock ? READ_ONCE(entry->owner) : NULL;
}

static void ntklog_track_semaphore_acquire(const void *lock, unsigned long caller, u32 action)
{
	struct ntklog_semaphore_entry *entry = ntklog_find_semaphore_entry(lock);

	ntklog_track_sleeping_acquire_slow(lock, caller, action);
	WRITE_ONCE(entry->lock, lock);
	WRITE_ONCE(entry->owner, current);
}

/**
 * ntklog_get_sleeping_lock_owner() - look up the owner of a lock
 * @lock: address of the lock, whose memory must not be freed during the call
 * @class: class of the lock
 *
 * Context: any.
 * Return: the owner, which must not be dereferenced; NULL if there is none, or it is not known.
 */
const struct task_struct *ntklog_get_sleeping_lock_owner(const void *lock, u32 class)
{
	switch (class) {
	case CLASS_BITS(MUTEX):
	case CLASS_BITS(WW_MUTEX):	/* A ww_mutex begins with a mutex. */
		return ntklog_get_mutex_owner(lock);
	case CLASS_BITS(RWSEM):
		return ntklog_get_rwsem_owner(lock);
	case CLASS_BITS(RT_MUTEX):
		return ntklog_get_rt_mutex_owner(lock);
	case CLASS_BITS(SEMAPHORE):
		return ntklog_get_semaphore_owner(lock);
	default:
		return NULL;
	}
}

static_assert(offsetof(struct ww_mutex, base) == 0);
static_assert(offsetof(struct rt_mutex, rtmutex) == 0);

/*
 * Bits of the lock words that are set while tasks wait, defined in kernel/locking. While a task
 * spins for a mutex or an rwsem, the bit may be clear.
 */
#define MUTEX_WAITERS_BIT	1UL
#define RWSEM_WAITERS_BIT	2UL
#define RT_MUTEX_WAITERS_BIT	1UL

#ifdef CONFIG_LOCK_SPIN_ON_OWNER
#define HAS_SPINNERS(_lock)	atomic_read(&(_lock)->osq.tail)
#else
#define HAS_SPINNERS(_lock)	false
#endif

static __always_inline bool ntklog_mutex_has_waiters(const void *lock)
{
	const struct mutex *mutex = lock;

	return atomic_long_read(&mutex->owner) & MUTEX_WAITERS_BIT || HAS_SPINNERS(mutex);
}

static __always_inline bool ntklog_rwsem_has_waiters(const void *lock)
{
	const struct rw_semaphore *rwsem = lock;

	return atomic_long_read(&rwsem->count) & RWSEM_WAITERS_BIT || HAS_SPINNERS(rwsem);
}

static __always_inline bool ntklog_rt_mutex_has_waiters(const void *lock)
{
	const struct rt_mutex *mutex = lock;

	return (unsigned long)READ_ONCE(mutex->rtmutex.owner) & RT_MUTEX_WAITERS_BIT;
}

static __always_inline bool ntklog_percpu_rwsem_has_waiters(const void *lock)
{
	const struct percpu_rw_semaphore *rwsem = lock;

	return !list_empty(&rwsem->waiters.head);
}

/* A trampoline calls these functions directly, so they need no ENDBR. */
#ifndef __noendbr
#define __noendbr
#endif

/* TRACK_ACQUIRE_SLOW() searches first for a slot that the task already has for the lock. */
#define TRACK_ACQUIRE	ntklog_track_sleeping_acquire
#define TRACK_ACQUIRE_SLOW	ntklog_track_sleeping_acquire_slow

#define DEFINE_ACQUIRE_HOOK(_hook, _track, _action)				\
NTKLOG_ASM_CONSTANT(action_of_##_hook, _action);				\
static noinline notrace __used __noendbr void _hook(const void *lock, unsigned long caller)	\
{										\
	_track(lock, caller, _action);						\
}

/* The fast path has counted the release and has seen no waiter; the countdown has expired. */
#define DEFINE_COUNTED_RELEASE_HOOK(_hook, _action, _owner)			\
NTKLOG_ASM_CONSTANT(action_of_##_hook, _action);				\
static noinline notrace __used __noendbr void counted_##_hook(const void *lock)	\
{										\
	ntklog_track_sleeping_release_slow(lock, _action, _owner, false, true);	\
}

#define DEFINE_RELEASE_HOOK(_hook, _action, _owner, _has_waiters)		\
static noinline notrace __used __noendbr void _hook(const void *lock)		\
{										\
	ntklog_track_sleeping_release(lock, _action, _owner, _has_waiters(lock)); \
}										\
DEFINE_COUNTED_RELEASE_HOOK(_hook, _action, _owner)

/* Interrupt handlers also call the release function. Their releases are only counted. */
#define DEFINE_RELEASE_HOOK_ANY_CONTEXT(_hook, _action, _owner, _has_waiters)	\
static noinline notrace __used __noendbr void _hook(const void *lock)		\
{										\
	if (likely(in_task()))							\
		ntklog_track_sleeping_release(lock, _action, _owner, _has_waiters(lock)); \
	else									\
		this_cpu_inc(ntklog_sleeping_lock_cpu.untrackable_operations);	\
}										\
DEFINE_COUNTED_RELEASE_HOOK(_hook, _action, _owner)

DEFINE_ACQUIRE_HOOK(acquire_mutex_hook, TRACK_ACQUIRE, EXCLUSIVE_ACTION(MUTEX))
DEFINE_RELEASE_HOOK(release_mutex_hook, EXCLUSIVE_ACTION(MUTEX), ntklog_get_mutex_owner,
		    ntklog_mutex_has_waiters)
DEFINE_ACQUIRE_HOOK(acquire_rwsem_exclusive_hook, TRACK_ACQUIRE, EXCLUSIVE_ACTION(RWSEM))
DEFINE_RELEASE_HOOK(release_rwsem_exclusive_hook, EXCLUSIVE_ACTION(RWSEM), ntklog_get_rwsem_owner,
		    ntklog_rwsem_has_waiters)
DEFINE_ACQUIRE_HOOK(acquire_rwsem_shared_hook, TRACK_ACQUIRE, SHARED_ACTION(RWSEM))
/* The owner word may name another reader, which still holds the lock. Do not use it. */
DEFINE_RELEASE_HOOK_ANY_CONTEXT(release_rwsem_shared_hook, SHARED_ACTION(RWSEM), NULL,
				ntklog_rwsem_has_waiters)
DEFINE_ACQUIRE_HOOK(acquire_semaphore_hook, ntklog_track_semaphore_acquire,
		    EXCLUSIVE_ACTION(SEMAPHORE))

/*
 * The owner and another task may release a semaphore at the same time, and both releases may find
 * the slot of the owner. Only the release that clears the slot is counted, so this hook must not
 * use the fast path, which counts before it clears.
 */
static noinline notrace __used __noendbr void release_semaphore_hook(const void *lock)
{
	const struct semaphore *semaphore = lock;

	ntklog_track_sleeping_release_slow(lock, EXCLUSIVE_ACTION(SEMAPHORE),
					   ntklog_get_semaphore_owner,
					   ntklog_semaphore_has_waiters(semaphore), false);
}

DEFINE_ACQUIRE_HOOK(acquire_rt_mutex_hook, TRACK_ACQUIRE, EXCLUSIVE_ACTION(RT_MUTEX))
DEFINE_RELEASE_HOOK(release_rt_mutex_hook, EXCLUSIVE_ACTION(RT_MUTEX), ntklog_get_rt_mutex_owner,
		    ntklog_rt_mutex_has_waiters)
/*
 * TRACK_ACQUIRE_SLOW() reuses the slot that is left if another task than the owner releases the
 * lock.
 */
DEFINE_ACQUIRE_HOOK(acquire_percpu_rwsem_hook, TRACK_ACQUIRE_SLOW, EXCLUSIVE_ACTION(PERCPU_RWSEM))
DEFINE_RELEASE_HOOK(release_percpu_rwsem_hook, EXCLUSIVE_ACTION(PERCPU_RWSEM), NULL,
		    ntklog_percpu_rwsem_has_waiters)
DEFINE_ACQUIRE_HOOK(acquire_ww_mutex_hook, TRACK_ACQUIRE_SLOW, EXCLUSIVE_ACTION(WW_MUTEX))
DEFINE_RELEASE_HOOK(release_ww_mutex_hook, EXCLUSIVE_ACTION(WW_MUTEX), ntklog_get_mutex_owner,
		    ntklog_mutex_has_waiters)

static noinline notrace __used __noendbr void downgrade_rwsem_hook(const void *lock)
{
	ntklog_track_downgrade(lock, CLASS_BITS(RWSEM));
}

/*
 * Hook of osq_unlock(): the task has stopped spinning for a lock. Only the spinning for an rwsem is
 * recorded here: for a mutex the kernel calls contention_begin and contention_end. If @queue
 * belongs to a mutex, no slot of an rwsem is found.
 */
static noinline notrace __used __noendbr void end_rwsem_spin_hook(const void *queue)
{
#ifdef CONFIG_RWSEM_SPIN_ON_OWNER
	if (in_task())
		ntklog_end_optimistic_spin(container_of(queue, struct rw_semaphore, osq),
					   CLASS_BITS(RWSEM));
#endif
}

/*
 * @_success: return value of the function after an acquisition, 0 or 1
 * @_takes_slot: false if the acquisition is only counted, as in an interrupt
 */
#define DEFINE_TRYLOCK_REPLACEMENT(_name, _success, _takes_slot, _track, _action)	\
static noinline notrace __used __noendbr					\
int tracked_##_name(const void *lock, const void *context)			\
{										\
	int result = NTKLOG_CALL_ORIGINAL(_name, lock, context);		\
										\
	if (!result == !(_success)) {						\
		if (likely(_takes_slot))					\
			_track(lock, _RET_IP_, _action);			\
		else								\
			this_cpu_inc(ntklog_sleeping_lock_cpu.untrackable_operations);	\
	}									\
	return result;								\
}										\
void trampoline_##_name(void);							\
asm(NTKLOG_TRAMPOLINE("trampoline_" #_name, "tracked_" #_name, ""))

#define TRYLOCK_HOOK(_name, ...)						\
{										\
	.targets = (struct ntklog_target[]){ NTKLOG_EXPORTED_TARGET(_name, __VA_ARGS__) },	\
	.target_count = 1,							\
	.trampolines = { [NTKLOG_VARIANT_TRACK] = trampoline_##_name },		\
	.original_entry = (const u8 *)(_name) + NTKLOG_ORIGINAL_OFFSET,		\
}

/* Newer kernels define mutex_trylock() as a macro if lockdep is enabled. */
#ifndef mutex_trylock
DEFINE_TRYLOCK_REPLACEMENT(mutex_trylock, 1, in_task(), TRACK_ACQUIRE, EXCLUSIVE_ACTION(MUTEX));
#define MUTEX_TRYLOCK_HOOK	TRYLOCK_HOOK(mutex_trylock)
#else
DEFINE_TRYLOCK_REPLACEMENT(_mutex_trylock_nest_lock, 1, in_task(), TRACK_ACQUIRE,
			   EXCLUSIVE_ACTION(MUTEX));
#define MUTEX_TRYLOCK_HOOK	TRYLOCK_HOOK(_mutex_trylock_nest_lock)
#endif

DEFINE_ACQUIRE_TRAMPOLINE(acquire_mutex_hook);
NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(acquire_mutex_hook);
DEFINE_RELEASE_TRAMPOLINE(release_mutex_hook, "", NTKLOG_CHECK_MUTEX(release_mutex_hook));

static struct ntklog_target mutex_lock_targets[] = {
#ifndef CONFIG_DEBUG_LOCK_ALLOC
	NTKLOG_EXPORTED_TARGET(mutex_lock),
	NTKLOG_EXPORTED_TARGET(mutex_lock_interruptible),
	NTKLOG_EXPORTED_TARGET(mutex_lock_killable),
	NTKLOG_EXPORTED_TARGET(mutex_lock_io, .inner_name = "mutex_lock", .optional = true),
#endif
};

static struct ntklog_target mutex_lock_3args_targets[] = {
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	NTKLOG_EXPORTED_TARGET(mutex_lock_nested),
	NTKLOG_EXPORTED_TARGET(mutex_lock_interruptible_nested),
	{.name = "mutex_lock_killable_nested", .optional = true},
	NTKLOG_EXPORTED_TARGET(mutex_lock_io_nested, .inner_name = "mutex_lock_nested",
			       .optional = true),
	NTKLOG_EXPORTED_TARGET(_mutex_lock_nest_lock),
#endif
	{.name = "_mutex_lock_killable", .optional = true},
};

static struct ntklog_target mutex_unlock_targets[] = { NTKLOG_EXPORTED_TARGET(mutex_unlock) };

static struct ntklog_hook ntklog_mutex_hooks[] = {
	NTKLOG_ENTRY_HOOK(trampoline_acquire_mutex_hook, mutex_lock_targets),
	NTKLOG_ENTRY_HOOK(trampoline_3args_acquire_mutex_hook, mutex_lock_3args_targets),
	MUTEX_TRYLOCK_HOOK,
	NTKLOG_ENTRY_HOOK(trampoline_release_mutex_hook, mutex_unlock_targets, .is_release = true),
};

/*
 * BPF acquires mmap_lock with interrupts off to look up the build IDs of a stack, and releases it
 * in an irq_work. The acquisition may interrupt a hook of the current task between two
 * instructions. An acquisition with interrupts off is therefore only counted.
 */
DEFINE_TRYLOCK_REPLACEMENT(down_read_trylock, 1, in_task() && !irqs_disabled(), TRACK_ACQUIRE,
			   SHARED_ACTION(RWSEM));
DEFINE_TRYLOCK_REPLACEMENT(down_write_trylock, 1, in_task(), TRACK_ACQUIRE,
			   EXCLUSIVE_ACTION(RWSEM));
DEFINE_ACQUIRE_TRAMPOLINE(acquire_rwsem_shared_hook);
NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(acquire_rwsem_shared_hook);
DEFINE_RELEASE_TRAMPOLINE(release_rwsem_shared_hook, NTKLOG_UNLESS_IN_TASK,
			  NTKLOG_CHECK_RWSEM(release_rwsem_shared_hook, "0"));
DEFINE_ACQUIRE_TRAMPOLINE(acquire_rwsem_exclusive_hook);
NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(acquire_rwsem_exclusive_hook);
DEFINE_RELEASE_TRAMPOLINE(release_rwsem_exclusive_hook, "",
			  NTKLOG_CHECK_RWSEM(release_rwsem_exclusive_hook, "1"));
NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE(downgrade_rwsem_hook);
NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE(end_rwsem_spin_hook);

static struct ntklog_target down_read_targets[] = {
	NTKLOG_EXPORTED_TARGET(down_read),
	NTKLOG_EXPORTED_TARGET(down_read_interruptible),
	NTKLOG_EXPORTED_TARGET(down_read_killable),
	{ .name = "down_read_non_owner", .optional = true },
};

static struct ntklog_target down_read_3args_targets[] = {
	{ .name = "down_read_nested", .optional = true },
	{ .name = "down_read_killable_nested", .optional = true },
};

static struct ntklog_target down_write_targets[] = {
	NTKLOG_EXPORTED_TARGET(down_write),
	NTKLOG_EXPORTED_TARGET(down_write_killable),
};

static struct ntklog_target down_write_3args_targets[] = {
	{ .name = "down_write_nested", .optional = true },
	{ .name = "down_write_killable_nested", .optional = true },
	{ .name = "_down_write_nest_lock", .optional = true },
};

static struct ntklog_target up_read_targets[] = {
	NTKLOG_EXPORTED_TARGET(up_read),
	{ .name = "up_read_non_owner", .optional = true },
};

static struct ntklog_target up_write_targets[] = { NTKLOG_EXPORTED_TARGET(up_write) };
static struct ntklog_target downgrade_write_targets[] = { NTKLOG_EXPORTED_TARGET(downgrade_write) };
static struct ntklog_target osq_unlock_targets[] = { { .name = "osq_unlock", .optional = true } };

static struct ntklog_hook ntklog_rwsem_hooks[] = {
	NTKLOG_ENTRY_HOOK(trampoline_acquire_rwsem_shared_hook, down_read_targets),
	NTKLOG_ENTRY_HOOK(trampoline_3args_acquire_rwsem_shared_hook, down_read_3args_targets),
	NTKLOG_ENTRY_HOOK(trampoline_acquire_rwsem_exclusive_hook, down_write_targets),
	NTKLOG_ENTRY_HOOK(trampoline_3args_acquire_rwsem_exclusive_hook, down_write_3args_targets),
	TRYLOCK_HOOK(down_read_trylock),
	TRYLOCK_HOOK(down_write_trylock),
	NTKLOG_ENTRY_HOOK(trampoline_end_rwsem_spin_hook, osq_unlock_targets),
	/* A release hook, so that the slot of a tracked writer that downgrades becomes shared. */
	NTKLOG_ENTRY_HOOK(trampoline_downgrade_rwsem_hook, downgrade_write_targets,
			  .is_release = true),
	NTKLOG_ENTRY_HOOK(trampoline_release_rwsem_shared_hook, up_read_targets,
			  .is_release = true),
	NTKLOG_ENTRY_HOOK(trampoline_release_rwsem_exclusive_hook, up_write_targets,
			  .is_release = true),
};

DEFINE_TRYLOCK_REPLACEMENT(down_trylock, 0, in_task(), ntklog_track_semaphore_acquire,
			   EXCLUSIVE_ACTION(SEMAPHORE));
NTKLOG_DEFINE_HOOK_TRAMPOLINE(acquire_semaphore_hook);
NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(acquire_semaphore_hook);
NTKLOG_DEFINE_HOOK_TRAMPOLINE(release_semaphore_hook);

static struct ntklog_target down_targets[] = {
	NTKLOG_EXPORTED_TARGET(down),
	NTKLOG_EXPORTED_TARGET(down_interruptible),
	NTKLOG_EXPORTED_TARGET(down_killable),
};

static struct ntklog_target down_3args_targets[] = { NTKLOG_EXPORTED_TARGET(down_timeout) };
static struct ntklog_target up_targets[] = { NTKLOG_EXPORTED_TARGET(up) };

static struct ntklog_hook ntklog_semaphore_hooks[] = {
	NTKLOG_ENTRY_HOOK(trampoline_acquire_semaphore_hook, down_targets),
	NTKLOG_ENTRY_HOOK(trampoline_3args_acquire_semaphore_hook, down_3args_targets),
	TRYLOCK_HOOK(down_trylock),
	NTKLOG_ENTRY_HOOK(trampoline_release_semaphore_hook, up_targets, .is_release = true),
};

DEFINE_TRYLOCK_REPLACEMENT(rt_mutex_trylock, 1, in_task(), TRACK_ACQUIRE,
			   EXCLUSIVE_ACTION(RT_MUTEX));
DEFINE_ACQUIRE_TRAMPOLINE(acquire_rt_mutex_hook);
NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(acquire_rt_mutex_hook);
DEFINE_RELEASE_TRAMPOLINE(release_rt_mutex_hook, "", NTKLOG_CHECK_RT_MUTEX(release_rt_mutex_hook));

static struct ntklog_target rt_mutex_lock_targets[] = {
	{ .name = "rt_mutex_lock", .optional = true },
	NTKLOG_EXPORTED_TARGET(rt_mutex_lock_interruptible),
	NTKLOG_EXPORTED_TARGET(rt_mutex_lock_killable),
};

static struct ntklog_target rt_mutex_lock_3args_targets[] = {
	{ .name = "rt_mutex_lock_nested", .optional = true },
	{ .name = "_rt_mutex_lock_nest_lock", .optional = true },
};

static struct ntklog_target rt_mutex_unlock_targets[] = { NTKLOG_EXPORTED_TARGET(rt_mutex_unlock) };

static struct ntklog_hook ntklog_rt_mutex_hooks[] = {
	NTKLOG_ENTRY_HOOK(trampoline_acquire_rt_mutex_hook, rt_mutex_lock_targets),
	NTKLOG_ENTRY_HOOK(trampoline_3args_acquire_rt_mutex_hook, rt_mutex_lock_3args_targets),
	TRYLOCK_HOOK(rt_mutex_trylock),
	NTKLOG_ENTRY_HOOK(trampoline_release_rt_mutex_hook, rt_mutex_unlock_targets,
			  .is_release = true),
};

NTKLOG_DEFINE_HOOK_TRAMPOLINE(acquire_percpu_rwsem_hook);
DEFINE_RELEASE_TRAMPOLINE(release_percpu_rwsem_hook, "",
			  NTKLOG_CHECK_PERCPU_RWSEM(release_percpu_rwsem_hook));

static struct ntklog_target percpu_down_write_targets[] = {
	NTKLOG_EXPORTED_TARGET(percpu_down_write)};
static struct ntklog_target percpu_up_write_targets[] = { NTKLOG_EXPORTED_TARGET(percpu_up_write) };

static struct ntklog_hook ntklog_percpu_rwsem_hooks[] = {
	NTKLOG_ENTRY_HOOK(trampoline_acquire_percpu_rwsem_hook, percpu_down_write_targets),
	NTKLOG_ENTRY_HOOK(trampoline_release_percpu_rwsem_hook, percpu_up_write_targets,
			  .is_release = true),
};

DEFINE_TRYLOCK_REPLACEMENT(ww_mutex_trylock, 1, in_task(), TRACK_ACQUIRE_SLOW,
			   EXCLUSIVE_ACTION(WW_MUTEX));
NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(acquire_ww_mutex_hook);
DEFINE_RELEASE_TRAMPOLINE(release_ww_mutex_hook, "", NTKLOG_CHECK_MUTEX(release_ww_mutex_hook));

static struct ntklog_target ww_mutex_lock_targets[] = {
	NTKLOG_EXPORTED_TARGET(ww_mutex_lock),
	NTKLOG_EXPORTED_TARGET(ww_mutex_lock_interruptible),
};

static struct ntklog_target ww_mutex_unlock_targets[] = {
	NTKLOG_EXPORTED_TARGET(ww_mutex_unlock, .inner_name = "mutex_unlock"),
};

static struct ntklog_hook ntklog_ww_mutex_hooks[] = {
	NTKLOG_ENTRY_HOOK(trampoline_3args_acquire_ww_mutex_hook, ww_mutex_lock_targets),
	TRYLOCK_HOOK(ww_mutex_trylock, .inner_name = "mutex_trylock"),
	NTKLOG_ENTRY_HOOK(trampoline_release_ww_mutex_hook, ww_mutex_unlock_targets,
			  .is_release = true),
};

#define DEFINE_LOCK_FUNCTIONS(_kind)						\
struct ntklog_lock_functions ntklog_linux_##_kind##_functions = {		\
	.hooks = ntklog_##_kind##_hooks,					\
	.hook_count = ARRAY_SIZE(ntklog_##_kind##_hooks),			\
}

DEFINE_LOCK_FUNCTIONS(mutex);
DEFINE_LOCK_FUNCTIONS(rwsem);
DEFINE_LOCK_FUNCTIONS(semaphore);
DEFINE_LOCK_FUNCTIONS(rt_mutex);
DEFINE_LOCK_FUNCTIONS(percpu_rwsem);
DEFINE_LOCK_FUNCTIONS(ww_mutex);

#endif /* NTKLOG_CAN_HOOK_SLEEPING */
