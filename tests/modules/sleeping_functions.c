// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that acquire and release each kind of lock. See sleeping_main.c for the output.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rtmutex.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "sleeping_functions.h"

unsigned int hold = 1500000;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "minimum cycles for which each lock is held");

DEFINE_WW_CLASS(ww_class);
/* The lock of the mutex functions below. */
DEFINE_MUTEX(a_mutex);
DECLARE_RWSEM(a_rwsem);
struct semaphore a_semaphore =
	__SEMAPHORE_INITIALIZER(a_semaphore, 1);
static DEFINE_RT_MUTEX(an_rt_mutex);
DEFINE_PERCPU_RWSEM(a_percpu_rwsem);
struct ww_mutex a_ww_mutex;

#define WAY(_name, _type, _acquire, _release)					\
static int acquire_##_name(void *data)						\
{										\
	typeof(_type) *lock = data;						\
										\
	return _acquire;							\
}										\
static void release_##_name(void *data)						\
{										\
	typeof(_type) *lock = data;						\
										\
	_release;								\
}

#define HAD(_acquire)	({ _acquire; 0; })

#define MUTEX(_name, _acquire)	WAY(_name, struct mutex, _acquire, mutex_unlock(lock))
#define RWSEM(_name, _acquire, _release) WAY(_name, struct rw_semaphore, _acquire, _release)
#define SEMAPHORE(_name, _acquire) WAY(_name, struct semaphore, _acquire, up(lock))
#define RT_MUTEX(_name, _acquire) WAY(_name, struct rt_mutex, _acquire, rt_mutex_unlock(lock))
#define WW_MUTEX(_name, _acquire) WAY(_name, struct ww_mutex, _acquire, ww_mutex_unlock(lock))

MUTEX(mutex, HAD(mutex_lock(lock)))
MUTEX(mutex_interruptible, mutex_lock_interruptible(lock))
MUTEX(mutex_killable, mutex_lock_killable(lock))
MUTEX(mutex_io, HAD(mutex_lock_io(lock)))
MUTEX(mutex_nested, HAD(mutex_lock_nested(lock, SINGLE_DEPTH_NESTING)))
MUTEX(mutex_try, !mutex_trylock(lock))
RWSEM(read, HAD(down_read(lock)), up_read(lock))
RWSEM(read_interruptible, down_read_interruptible(lock), up_read(lock))
RWSEM(read_killable, down_read_killable(lock), up_read(lock))
RWSEM(read_try, !down_read_trylock(lock), up_read(lock))
RWSEM(write, HAD(down_write(lock)), up_write(lock))
RWSEM(write_killable, down_write_killable(lock), up_write(lock))
RWSEM(write_try, !down_write_trylock(lock), up_write(lock))
RWSEM(downgraded, HAD(down_write(lock); downgrade_write(lock)), up_read(lock))
SEMAPHORE(semaphore, HAD(down(lock)))
SEMAPHORE(semaphore_interruptible, down_interruptible(lock))
SEMAPHORE(semaphore_killable, down_killable(lock))
SEMAPHORE(semaphore_timeout, down_timeout(lock, HZ / 20))
SEMAPHORE(semaphore_try, down_trylock(lock))
RT_MUTEX(rt_mutex, HAD(rt_mutex_lock(lock)))
RT_MUTEX(rt_mutex_interruptible, rt_mutex_lock_interruptible(lock))
RT_MUTEX(rt_mutex_killable, rt_mutex_lock_killable(lock))
RT_MUTEX(rt_mutex_try, !rt_mutex_trylock(lock))
WAY(percpu_rwsem, struct percpu_rw_semaphore, HAD(percpu_down_write(lock)), percpu_up_write(lock))
WW_MUTEX(ww_mutex, ww_mutex_lock(lock, NULL))
WW_MUTEX(ww_mutex_interruptible, ww_mutex_lock_interruptible(lock, NULL))
WW_MUTEX(ww_mutex_try, !ww_mutex_trylock(lock, NULL))

#define WAY_OF(_name, _lock, _action)						\
	{ #_name, _action, &(_lock), acquire_##_name, release_##_name }

const struct way ways[] = {
	WAY_OF(mutex, a_mutex, E(MUTEX)),
	WAY_OF(mutex_interruptible, a_mutex, E(MUTEX)),
	WAY_OF(mutex_killable, a_mutex, E(MUTEX)),
	WAY_OF(mutex_io, a_mutex, E(MUTEX)),
	WAY_OF(mutex_nested, a_mutex, E(MUTEX)),
	WAY_OF(mutex_try, a_mutex, E(MUTEX)),
	WAY_OF(read, a_rwsem, S(RWSEM)),
	WAY_OF(read_interruptible, a_rwsem, S(RWSEM)),
	WAY_OF(read_killable, a_rwsem, S(RWSEM)),
	WAY_OF(read_try, a_rwsem, S(RWSEM)),
	WAY_OF(write, a_rwsem, E(RWSEM)),
	WAY_OF(write_killable, a_rwsem, E(RWSEM)),
	WAY_OF(write_try, a_rwsem, E(RWSEM)),
	WAY_OF(downgraded, a_rwsem, S(RWSEM)),
	WAY_OF(semaphore, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_interruptible, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_killable, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_timeout, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_try, a_semaphore, E(SEMAPHORE)),
	WAY_OF(rt_mutex, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(rt_mutex_interruptible, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(rt_mutex_killable, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(rt_mutex_try, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(percpu_rwsem, a_percpu_rwsem, E(PERCPU_RWSEM)),
	WAY_OF(ww_mutex, a_ww_mutex, E(WW_MUTEX)),
	WAY_OF(ww_mutex_interruptible, a_ww_mutex, E(WW_MUTEX)),
	WAY_OF(ww_mutex_try, a_ww_mutex, E(WW_MUTEX)),
};

const size_t way_count = ARRAY_SIZE(ways);

void spend(cycles_t cycles)
{
	cycles_t start = get_cycles();

	while (get_cycles() - start < cycles)
		cpu_relax();
}

void tell(const char *name, void *lock, u32 action, bool waited, int contentions,
	  const u64 time[4])
{
	pr_info("truth %s 0x%lx 0x%x %d %d %llu %llu %llu %llu %d\n", name, (unsigned long)lock,
		action, waited, contentions, time[0], time[1], time[2], time[3],
		task_pid_nr(current));
}

void differs(const char *name, int result)
{
	pr_info("wrong %s %d\n", name, result);
}

const struct way *way_of(const char *name)
{
	size_t i;

	for (i = 0; i < way_count; i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	return NULL;
}

/* Acquire a lock, call @held unless it is NULL, hold for `hold` cycles, release and print. */
void take(const struct way *way, bool waited, int contentions, void (*held)(void *), void *data)
{
	int count = preempt_count(), result;
	u64 time[4];

	time[0] = get_cycles();
	result = way->acquire(way->lock);
	time[1] = get_cycles();
	if (result) {
		differs(way->name, result);
		return;
	}
	if (held)
		held(data);
	spend(hold);
	time[2] = get_cycles();
	way->release(way->lock);
	time[3] = get_cycles();
	if (count != preempt_count())
		differs(way->name, preempt_count());
	tell(way->name, way->lock, way->action, waited, contentions, time);
}
