// SPDX-License-Identifier: GPL-2.0-only
/*
 * A work item runs the self-test, because the self-test may wait for grace periods of Tasks RCU:
 * see ntklog_linux_mutex. The reader of the file waits killably for the work item.
 */

#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../etw/observe.h"
#include "locks.h"
#include "selftest_work.h"

/* Held by a reader of the file from its request until it has copied the text. */
static DEFINE_MUTEX(ntklog_selftest_mutex);

/* The output of the last self-test. Written by the work item, after its buf was allocated. */
static struct seq_file ntklog_selftest_output;

/* Number of requests; written with ntklog_selftest_mutex held. */
static u32 ntklog_selftest_request_count;

/* Value of ntklog_selftest_request_count at the start of the last complete run of the work item. */
static u32 ntklog_selftest_completed_requests;

/* Woken when the work item has finished. */
static DECLARE_WAIT_QUEUE_HEAD(ntklog_selftest_waitqueue);

static void ntklog_run_selftest_work(struct work_struct *work)
{
	/* Pairs with the smp_store_release() in ntklog_request_selftest(). */
	u32 request_number = smp_load_acquire(&ntklog_selftest_request_count);

	ntklog_selftest_output.count = 0;
	ntklog_test_kinds(&ntklog_selftest_output);
	/* Publishes the text. Pairs with ntklog_selftest_is_completed(). */
	smp_store_release(&ntklog_selftest_completed_requests, request_number);
	wake_up_all(&ntklog_selftest_waitqueue);
	/* Let the sessions log that they no longer observe the kinds whose test failed. */
	etw_schedule_observing();
}

static DECLARE_WORK(ntklog_selftest_work, ntklog_run_selftest_work);

static bool ntklog_selftest_is_completed(u32 request_number)
{
	/* Pairs with the smp_store_release() in ntklog_run_selftest_work(). */
	return (s32)(smp_load_acquire(&ntklog_selftest_completed_requests) - request_number) >= 0;
}

/* Called with ntklog_selftest_mutex held. Returns 0 or a negative errno. */
static int ntklog_request_selftest(void)
{
	u32 request_number = ntklog_selftest_request_count + 1;

	if (!ntklog_selftest_output.buf) {
		ntklog_selftest_output.buf = kvmalloc(NTKLOG_SELFTEST_OUTPUT_MAX, GFP_KERNEL);
		if (!ntklog_selftest_output.buf)
			return -ENOMEM;
		ntklog_selftest_output.size = NTKLOG_SELFTEST_OUTPUT_MAX;
	}
	/* Publishes the buffer. Pairs with ntklog_run_selftest_work(). */
	smp_store_release(&ntklog_selftest_request_count, request_number);
	queue_work(system_long_wq, &ntklog_selftest_work);
	return wait_event_killable(ntklog_selftest_waitqueue,
				   ntklog_selftest_is_completed(request_number)) ? -EINTR : 0;
}

/**
 * ntklog_show_linux_selftest() - compare the replacements of all kinds with the kernel's functions
 * @seq: output file; gets the text that ntklog_test_kinds() prints
 *
 * If the current task is killed, the self-test goes on without it.
 *
 * Context: task; may sleep.
 * Return: 0, -EINTR after a fatal signal, or -ENOMEM.
 */
int ntklog_show_linux_selftest(struct seq_file *seq)
{
	int err;

	if (mutex_lock_killable(&ntklog_selftest_mutex))
		return -EINTR;
	err = ntklog_request_selftest();
	if (!err)
		seq_write(seq, ntklog_selftest_output.buf, ntklog_selftest_output.count);
	mutex_unlock(&ntklog_selftest_mutex);
	return err;
}

/**
 * ntklog_linux_selftest_exit() - wait for the end of a self-test whose reader was killed
 *
 * Context: module unload, or a failed load; before ntklog_linux_exit(). No reader is left.
 */
void ntklog_linux_selftest_exit(void)
{
	flush_work(&ntklog_selftest_work);
	kvfree(ntklog_selftest_output.buf);
}
