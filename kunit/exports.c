// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions and variables of ntklog.ko that the suites use. A build with the suites links this
 * file into ntklog.ko; no other object of the module depends on whether there are suites.
 */

#include <linux/export.h>

#include "../module/etw/buffer.h"
#include "../module/etw/claim.h"
#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/flush.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/logfile.h"
#include "../module/etw/observe.h"
#include "../module/etw/reader.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/etw/snapshot.h"
#include "../module/etw/stacks.h"
#include "../module/ex/locks_information.h"
#include "../module/ground/address.h"
#include "../module/ground/identity.h"
#include "../module/ground/identity_reader.h"
#include "../module/ground/task_notes.h"
#include "../module/ground/task_table.h"
#include "../module/ground/thread.h"
#include "../module/linux/redirect.h"
#include "../module/linux/rundown.h"
#include "../module/perf/block_stack.h"
#include "../module/perf/context_swap.h"
#include "../module/perf/information.h"
#include "../module/perf/ready_thread.h"
#include "../module/perf/release_count.h"
#include "../module/perf/resource.h"
#include "../module/perf/resource_cpu.h"
#include "../module/perf/resource_event.h"
#include "../module/perf/sleeping_lock.h"
#include "../module/perf/spin_lock.h"
#include "../module/perf/spin_lock_arming.h"
#include "../module/perf/spin_lock_cpu.h"
#include "../module/perf/spin_lock_parameters.h"
#include "../module/perf/spin_lock_sampled.h"
#include "../module/perf/spin_lock_slots.h"
#include "../module/perf/spin_lock_wait.h"
#include "../module/perf/stack.h"
#include "../module/user/system_information.h"

/* checkpatch wants EXPORT_SYMBOL_GPL() below the definition. */
#define EXPORT_TO_SUITES(symbol)	EXPORT_SYMBOL_GPL(symbol)

EXPORT_TO_SUITES(etw_write_event);

EXPORT_TO_SUITES(etw_adopt_session);
EXPORT_TO_SUITES(etw_close_claim);
EXPORT_TO_SUITES(etw_flush_claimed_session);
EXPORT_TO_SUITES(etw_get_claim_counts);
EXPORT_TO_SUITES(etw_get_claim_info);
EXPORT_TO_SUITES(etw_get_claim_run);
EXPORT_TO_SUITES(etw_keep_claimed_session);
EXPORT_TO_SUITES(etw_open_claim);
EXPORT_TO_SUITES(etw_start_claimed_session);
EXPORT_TO_SUITES(etw_stop_claimed_session);

EXPORT_TO_SUITES(etw_flush_session);
EXPORT_TO_SUITES(etw_start_session);
EXPORT_TO_SUITES(etw_stop_session);

EXPORT_TO_SUITES(etw_contextswap_versions);
EXPORT_TO_SUITES(etw_log_event);
EXPORT_TO_SUITES(etw_log_event_in_versions);
EXPORT_TO_SUITES(etw_log_session_event);
EXPORT_TO_SUITES(etw_run_cpus);
EXPORT_TO_SUITES(etw_sessions_by_group);

EXPORT_TO_SUITES(etw_call_on_last_cpu);
EXPORT_TO_SUITES(etw_find_last_file_cpu);

EXPORT_TO_SUITES(etw_group_change_apply);
EXPORT_TO_SUITES(etw_group_change_parse);
EXPORT_TO_SUITES(etw_group_mask_set);

EXPORT_TO_SUITES(etw_make_header_buffer);

EXPORT_TO_SUITES(etw_get_failures);
EXPORT_TO_SUITES(etw_log_observed_event);
EXPORT_TO_SUITES(etw_resume_observing);
EXPORT_TO_SUITES(etw_stop_observing_for_suspend);

EXPORT_TO_SUITES(etw_close_reader);
EXPORT_TO_SUITES(etw_open_reader);
EXPORT_TO_SUITES(etw_poll_buffers);
EXPORT_TO_SUITES(etw_read_buffers);

EXPORT_TO_SUITES(etw_get_buffer_of_cpu);
EXPORT_TO_SUITES(etw_get_counts);
EXPORT_TO_SUITES(etw_put_run);
EXPORT_TO_SUITES(etw_run_has_unread_buffers);

EXPORT_TO_SUITES(etw_get_global_group_mask);
EXPORT_TO_SUITES(etw_mutex);
EXPORT_TO_SUITES(etw_session_is_started);
EXPORT_TO_SUITES(etw_sessions);

EXPORT_TO_SUITES(etw_change_group_mask);
EXPORT_TO_SUITES(etw_get_settings);
EXPORT_TO_SUITES(etw_set_buffer_size);
EXPORT_TO_SUITES(etw_set_buffers);
EXPORT_TO_SUITES(etw_set_contextswap_version);
EXPORT_TO_SUITES(etw_set_flush_timer);
EXPORT_TO_SUITES(etw_set_mode);
EXPORT_TO_SUITES(etw_set_name);
EXPORT_TO_SUITES(etw_set_stacks);

EXPORT_TO_SUITES(etw_make_snapshot);

EXPORT_TO_SUITES(etw_stacks_parse);

EXPORT_TO_SUITES(ex_describe_all_resources);

EXPORT_TO_SUITES(ntklog_address_init);

EXPORT_TO_SUITES(ntklog_identities);
EXPORT_TO_SUITES(ntklog_record_identity_slow);

EXPORT_TO_SUITES(ntklog_close_identities);
EXPORT_TO_SUITES(ntklog_open_identities);
EXPORT_TO_SUITES(ntklog_read_identities);

EXPORT_TO_SUITES(ntklog_close_task_notes);
EXPORT_TO_SUITES(ntklog_note_task);
EXPORT_TO_SUITES(ntklog_open_task_notes);
EXPORT_TO_SUITES(ntklog_read_task_notes);

EXPORT_TO_SUITES(ntklog_count_task_records);
EXPORT_TO_SUITES(ntklog_free_blocked_task_records);

EXPORT_TO_SUITES(ntklog_find_current_record_slow);

#ifdef NTKLOG_CAN_REDIRECT
EXPORT_TO_SUITES(ntklog_resolve_targets);
#endif

EXPORT_TO_SUITES(ntklog_steal_time_func);

EXPORT_TO_SUITES(ntklog_begin_blocked_period);
EXPORT_TO_SUITES(ntklog_block_stacks_are_needed);
EXPORT_TO_SUITES(ntklog_end_blocked_period);
EXPORT_TO_SUITES(ntklog_get_longest_block_stack);

EXPORT_TO_SUITES(ntklog_context_swaps_are_traced);
EXPORT_TO_SUITES(ntklog_convert_to_nt_priority);
EXPORT_TO_SUITES(ntklog_sched_switch_tp);

EXPORT_TO_SUITES(ntklog_change_parameter_set);
EXPORT_TO_SUITES(ntklog_get_parameter);
EXPORT_TO_SUITES(ntklog_query_parameter_set);
EXPORT_TO_SUITES(ntklog_set_parameter);

EXPORT_TO_SUITES(ntklog_sched_wakeup_new_tp);
EXPORT_TO_SUITES(ntklog_sched_waking_tp);

EXPORT_TO_SUITES(ntklog_restart_release_countdown);

EXPORT_TO_SUITES(ntklog_log_resource_timeout);
EXPORT_TO_SUITES(ntklog_resource_key);
EXPORT_TO_SUITES(ntklog_resource_parameter_set);
EXPORT_TO_SUITES(ntklog_track_resource_acquire_slow);
EXPORT_TO_SUITES(ntklog_track_resource_release_slow);

EXPORT_TO_SUITES(ntklog_resource_cpu);

EXPORT_TO_SUITES(ntklog_write_resource_event);
EXPORT_TO_SUITES(ntklog_write_sleeping_event);

EXPORT_TO_SUITES(ntklog_begin_sleeping_wait);
EXPORT_TO_SUITES(ntklog_count_sleeping_contention);
EXPORT_TO_SUITES(ntklog_count_sleeping_slots);
EXPORT_TO_SUITES(ntklog_disable_sleeping_class);
EXPORT_TO_SUITES(ntklog_enable_sleeping_class);
EXPORT_TO_SUITES(ntklog_end_sleeping_wait);
EXPORT_TO_SUITES(ntklog_sleeping_lock_cpu);
EXPORT_TO_SUITES(ntklog_track_sleeping_acquire_slow);
EXPORT_TO_SUITES(ntklog_track_sleeping_release_slow);

EXPORT_TO_SUITES(ntklog_spin_lock_parameter_set);

EXPORT_TO_SUITES(ntklog_start_sampling_spin_locks);
EXPORT_TO_SUITES(ntklog_stop_sampling_spin_locks);

EXPORT_TO_SUITES(ntklog_get_spin_lock_acquire_count);
EXPORT_TO_SUITES(ntklog_spin_lock_cpu);

EXPORT_TO_SUITES(ntklog_spin_lock_blocker_rate);

EXPORT_TO_SUITES(ntklog_find_topmost_sampled_spin_lock);
EXPORT_TO_SUITES(ntklog_sample_contended_spin_lock);
EXPORT_TO_SUITES(ntklog_sample_spin_lock_acquire_slow);
EXPORT_TO_SUITES(ntklog_track_sampled_release);

EXPORT_TO_SUITES(ntklog_count_interrupt_in_slots);
EXPORT_TO_SUITES(ntklog_find_topmost_spin_lock);
EXPORT_TO_SUITES(ntklog_log_contended_spin_lock);
EXPORT_TO_SUITES(ntklog_log_spin_lock_convert);
EXPORT_TO_SUITES(ntklog_set_uncontended_count);
EXPORT_TO_SUITES(ntklog_track_spin_lock_acquire_slow);
EXPORT_TO_SUITES(ntklog_track_spin_lock_release_slow);

EXPORT_TO_SUITES(ntklog_count_and_sample_wait);
EXPORT_TO_SUITES(ntklog_log_spin_lock_wait);

EXPORT_TO_SUITES(ntklog_stack_cpu);

EXPORT_TO_SUITES(ntklog_query_system_information);
EXPORT_TO_SUITES(ntklog_set_system_information);
