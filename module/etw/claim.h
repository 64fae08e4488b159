/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_CLAIM_H
#define _NTKLOG_ETW_CLAIM_H

#include <linux/sched.h>
#include <linux/types.h>

#include "session.h"

struct etw_run;
struct seq_file;

/**
 * struct etw_claim - the exclusive use of a session through one open file
 * @session: the session; its @claim points back here until the claim is given up or ends
 * @is_given_up: the claim has been given up or has ended; written with etw_mutex and
 *	etw_session_lock held
 * @has_run: the session's run, if it has one, was started or adopted by the owner; written with
 *	etw_mutex and etw_session_lock held after the claim was opened
 * @is_closed: a work item is about to end the claim; written with etw_session_lock held
 * @pid: process ID of the opener
 * @comm: name of the opener
 */
struct etw_claim {
	struct etw_session *session;
	bool is_given_up;
	bool has_run;
	bool is_closed;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

struct etw_claim *etw_open_claim(struct etw_session *session);
struct etw_claim *etw_adopt_session(struct etw_session *session);
void etw_close_claim(struct etw_claim *claim);
void etw_wait_for_closed_claims(void);
int etw_start_claimed_session(struct etw_claim *claim, const struct ntklog_session_start *start);
int etw_stop_claimed_session(struct etw_claim *claim);
int etw_flush_claimed_session(struct etw_claim *claim);
int etw_keep_claimed_session(struct etw_claim *claim);
struct etw_run *etw_get_claim_run(struct etw_claim *claim);
int etw_get_claim_counts(struct etw_claim *claim, struct ntklog_session_counts *counts);
int etw_get_claim_info(struct etw_claim *claim, struct ntklog_session_info *info);
void etw_show_claim_owner(struct seq_file *seq, struct etw_session *session);

#endif /* _NTKLOG_ETW_CLAIM_H */
