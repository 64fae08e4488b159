// SPDX-License-Identifier: GPL-2.0-only
/* See sleeping_main.c for the output. */

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
/* The locks protect no data. */
DEFINE_MUTEX(a_mutex);
DECLARE_RWSEM(a_rwsem);
struct semaphore a_semaphore =
	__SEMAPHORE_INITIALIZER(a_semaphore, 1);
static DEFINE_RT_MUTEX(an_rt_mutex);
DEFINE_PERCPU_RWSEM(a_percpu_rwsem);
struct ww_mutex a_ww_mutex;

/* The expression _acquire is 0 if it acquired the lock. */
#define DEFINE_METHOD(_name, _type, _acquire, _release)					\
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

#define ALWAYS(_acquire)	({ _acquire; 0; })

#define MUTEX(_name, _acquire)	DEFINE_METHOD(_name, struct mutex, _acquire, mutex_unlock(lock))
#define RWSEM(_name, _acquire, _release) \
	DEFINE_METHOD(_name, struct rw_semaphore, _acquire, _release)
#define SEMAPHORE(_name, _acquire) DEFINE_METHOD(_name, struct semaphore, _acquire, up(lock))
#define RT_MUTEX(_name, _acquire) \
	DEFINE_METHOD(_name, struct rt_mutex, _acquire, rt_mutex_unlock(lock))
#define WW_MUTEX(_name, _acquire) \
	DEFINE_METHOD(_name, struct ww_mutex, _acquire, ww_mutex_unlock(lock))

MUTEX(mutex, ALWAYS(mutex_lock(lock)))
MUTEX(mutex_interruptible, mutex_lock_interruptible(lock))
MUTEX(mutex_killable, mutex_lock_killable(lock))
MUTEX(mutex_io, ALWAYS(mutex_lock_io(lock)))
MUTEX(mutex_nested, ALWAYS(mutex_lock_nested(lock, SINGLE_DEPTH_NESTING)))
MUTEX(mutex_try, !mutex_trylock(lock))
RWSEM(read, ALWAYS(down_read(lock)), up_read(lock))
RWSEM(read_interruptible, down_read_interruptible(lock), up_read(lock))
RWSEM(read_killable, down_read_killable(lock), up_read(lock))
RWSEM(read_try, !down_read_trylock(lock), up_read(lock))
RWSEM(write, ALWAYS(down_write(lock)), up_write(lock))
RWSEM(write_killable, down_write_killable(lock), up_write(lock))
RWSEM(write_try, !down_write_trylock(lock), up_write(lock))
RWSEM(downgraded, ALWAYS(down_write(lock); downgrade_write(lock)), up_read(lock))
SEMAPHORE(semaphore, ALWAYS(down(lock)))
SEMAPHORE(semaphore_interruptible, down_interruptible(lock))
SEMAPHORE(semaphore_killable, down_killable(lock))
SEMAPHORE(semaphore_timeout, down_timeout(lock, HZ / 20))
SEMAPHORE(semaphore_try, down_trylock(lock))
RT_MUTEX(rt_mutex, ALWAYS(rt_mutex_lock(lock)))
RT_MUTEX(rt_mutex_interruptible, rt_mutex_lock_interruptible(lock))
RT_MUTEX(rt_mutex_killable, rt_mutex_lock_killable(lock))
RT_MUTEX(rt_mutex_try, !rt_mutex_trylock(lock))
DEFINE_METHOD(percpu_rwsem, struct percpu_rw_semaphore, ALWAYS(percpu_down_write(lock)),
	      percpu_up_write(lock))
WW_MUTEX(ww_mutex, ww_mutex_lock(lock, NULL))
WW_MUTEX(ww_mutex_interruptible, ww_mutex_lock_interruptible(lock, NULL))
WW_MUTEX(ww_mutex_try, !ww_mutex_trylock(lock, NULL))

#define METHOD(_name, _lock, _action)						\
	{ #_name, _action, &(_lock), acquire_##_name, release_##_name }

const struct method methods[] = {
	METHOD(mutex, a_mutex, EXCLUSIVE(MUTEX)),
	METHOD(mutex_interruptible, a_mutex, EXCLUSIVE(MUTEX)),
	METHOD(mutex_killable, a_mutex, EXCLUSIVE(MUTEX)),
	METHOD(mutex_io, a_mutex, EXCLUSIVE(MUTEX)),
	METHOD(mutex_nested, a_mutex, EXCLUSIVE(MUTEX)),
	METHOD(mutex_try, a_mutex, EXCLUSIVE(MUTEX)),
	METHOD(read, a_rwsem, SHARED(RWSEM)),
	METHOD(read_interruptible, a_rwsem, SHARED(RWSEM)),
	METHOD(read_killable, a_rwsem, SHARED(RWSEM)),
	METHOD(read_try, a_rwsem, SHARED(RWSEM)),
	METHOD(write, a_rwsem, EXCLUSIVE(RWSEM)),
	METHOD(write_killable, a_rwsem, EXCLUSIVE(RWSEM)),
	METHOD(write_try, a_rwsem, EXCLUSIVE(RWSEM)),
	METHOD(downgraded, a_rwsem, SHARED(RWSEM)),
	METHOD(semaphore, a_semaphore, EXCLUSIVE(SEMAPHORE)),
	METHOD(semaphore_interruptible, a_semaphore, EXCLUSIVE(SEMAPHORE)),
	METHOD(semaphore_killable, a_semaphore, EXCLUSIVE(SEMAPHORE)),
	METHOD(semaphore_timeout, a_semaphore, EXCLUSIVE(SEMAPHORE)),
	METHOD(semaphore_try, a_semaphore, EXCLUSIVE(SEMAPHORE)),
	METHOD(rt_mutex, an_rt_mutex, EXCLUSIVE(RT_MUTEX)),
	METHOD(rt_mutex_interruptible, an_rt_mutex, EXCLUSIVE(RT_MUTEX)),
	METHOD(rt_mutex_killable, an_rt_mutex, EXCLUSIVE(RT_MUTEX)),
	METHOD(rt_mutex_try, an_rt_mutex, EXCLUSIVE(RT_MUTEX)),
	METHOD(percpu_rwsem, a_percpu_rwsem, EXCLUSIVE(PERCPU_RWSEM)),
	METHOD(ww_mutex, a_ww_mutex, EXCLUSIVE(WW_MUTEX)),
	METHOD(ww_mutex_interruptible, a_ww_mutex, EXCLUSIVE(WW_MUTEX)),
	METHOD(ww_mutex_try, a_ww_mutex, EXCLUSIVE(WW_MUTEX)),
};

const size_t method_count = ARRAY_SIZE(methods);

void spin_for(cycles_t cycles)
{
	cycles_t start = get_cycles();

	while (get_cycles() - start < cycles)
		cpu_relax();
}

void print_truth(const char *name, void *lock, u32 action, bool waited, int contentions,
		 const u64 time[4])
{
	pr_info("truth %s 0x%lx 0x%x %d %d %llu %llu %llu %llu %d\n", name, (unsigned long)lock,
		action, waited, contentions, time[0], time[1], time[2], time[3],
		task_pid_nr(current));
}

void print_wrong(const char *name, int result)
{
	pr_info("wrong %s %d\n", name, result);
}

const struct method *find_method(const char *name)
{
	size_t i;

	for (i = 0; i < method_count; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

/* @while_held may be NULL. @waited and @contentions are those of the expected event. */
void take(const struct method *method, bool waited, int contentions, void (*while_held)(void *),
	  void *data)
{
	int preempt_count_before = preempt_count(), result;
	u64 time[4];

	time[0] = get_cycles();
	result = method->acquire(method->lock);
	time[1] = get_cycles();
	if (result) {
		print_wrong(method->name, result);
		return;
	}
	if (while_held)
		while_held(data);
	spin_for(hold);
	time[2] = get_cycles();
	method->release(method->lock);
	time[3] = get_cycles();
	if (preempt_count_before != preempt_count())
		print_wrong(method->name, preempt_count());
	print_truth(method->name, method->lock, method->action, waited, contentions, time);
}
