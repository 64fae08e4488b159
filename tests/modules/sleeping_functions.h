/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SLEEPING_FUNCTIONS_H
#define _SLEEPING_FUNCTIONS_H

#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/timex.h>
#include <linux/types.h>
#include <linux/ww_mutex.h>
#include <uapi/ntklog/wmi_resource.h>

/* The action word in the event of a release: kind of lock, access, and "final release". */
#define EXCLUSIVE(_class)	(WMI_RESOURCE_CLASS_LINUX_##_class | 0x22)
#define SHARED(_class)	(WMI_RESOURCE_CLASS_LINUX_##_class | 0x42)

/* @acquire: returns 0 if it has acquired the lock */
struct method {
	const char *name;
	u32 action;
	void *lock;
	int (*acquire)(void *lock);
	void (*release)(void *lock);
};

extern struct ww_class ww_class;
extern struct mutex a_mutex;
extern struct rw_semaphore a_rwsem;
extern struct semaphore a_semaphore;
extern struct percpu_rw_semaphore a_percpu_rwsem;
extern struct ww_mutex a_ww_mutex;

extern const struct method methods[];
extern const size_t method_count;

/* The module's parameter: minimum cycles for which each lock is held. */
extern unsigned int hold;

void spin_for(cycles_t cycles);
void print_truth(const char *name, void *lock, u32 action, bool waited, int contentions,
		 const u64 time[4]);
void print_wrong(const char *name, int result);
const struct method *find_method(const char *name);
void take(const struct method *method, bool waited, int contentions, void (*while_held)(void *),
	  void *data);

#endif /* _SLEEPING_FUNCTIONS_H */
