/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NT_SAL_H
#define _NTKLOG_NT_SAL_H

/*
 * NT's source annotations (SAL) of arguments, IRQLs and locks. They expand to nothing and do not
 * use their arguments. __in, __out and similar names, the predecessors of _In_ and _Out_, are not
 * defined, because Linux' own headers use such names.
 */

/* Arguments. */
#define IN
#define OUT
#define OPTIONAL
#define _In_
#define _Out_
#define _Inout_
#define _In_opt_
#define _Out_opt_
#define _Inout_opt_
#define _In_z_
#define _In_opt_z_
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Reserved_
#define _Const_
#define _Notnull_
#define _Maybenull_
#define _Null_
#define _Null_terminated_
#define _Literal_
#define _Notliteral_
#define _Points_to_data_
#define _Printf_format_string_
#define _Pre_
#define _Post_
#define _Pre_notnull_
#define _Pre_maybenull_
#define _Pre_valid_
#define _Post_valid_
#define _Post_invalid_
#define _Unchanged_

/* Arguments with a size, a range or a type. */
#define _In_reads_(...)
#define _In_reads_opt_(...)
#define _In_reads_bytes_(...)
#define _In_reads_bytes_opt_(...)
#define _In_range_(...)
#define _Out_writes_(...)
#define _Out_writes_opt_(...)
#define _Out_writes_z_(...)
#define _Out_writes_to_(...)
#define _Out_writes_bytes_(...)
#define _Out_writes_bytes_opt_(...)
#define _Out_writes_bytes_to_(...)
#define _Out_range_(...)
#define _Inout_updates_(...)
#define _Inout_updates_opt_(...)
#define _Inout_updates_bytes_(...)
#define _Strict_type_match_(...)
#define _Field_range_(...)
#define _Field_size_(...)
#define _Field_size_opt_(...)
#define _Field_size_bytes_(...)
#define _Field_size_bytes_opt_(...)
#define _Struct_size_bytes_(...)

/* Results and functions. */
#define _Check_return_
#define _Must_inspect_result_
#define _Ret_notnull_
#define _Ret_maybenull_
#define _Use_decl_annotations_
#define _Analysis_noreturn_
#define _Enum_is_bitflag_

/* Conditional annotations, and annotations of expressions. */
#define _When_(...)
#define _At_(...)
#define _Group_(...)
#define _Always_(...)
#define _On_failure_(...)
#define _Success_(...)
#define _Return_type_success_(...)
#define _Pre_satisfies_(...)
#define _Post_satisfies_(...)
#define _Ret_range_(...)
#define _Function_class_(...)
#define _Called_from_function_class_(...)
#define _Dispatch_type_(...)
#define _Analysis_mode_(...)
#define _Landmark_(...)

/* The IRQL. */
#define _IRQL_requires_same_
#define _IRQL_saves_
#define _IRQL_restores_
#define _IRQL_is_cancel_
#define _IRQL_uses_cancel_

#define _IRQL_requires_(...)
#define _IRQL_requires_max_(...)
#define _IRQL_requires_min_(...)
#define _IRQL_raises_(...)
#define _IRQL_saves_global_(...)
#define _IRQL_restores_global_(...)
#define _IRQL_always_function_max_(...)
#define _IRQL_always_function_min_(...)

/* Locks, data that a lock guards, and the absence of competing threads. */
#define _Acquires_lock_(...)
#define _Acquires_exclusive_lock_(...)
#define _Acquires_shared_lock_(...)
#define _Acquires_nonreentrant_lock_(...)
#define _Releases_lock_(...)
#define _Releases_exclusive_lock_(...)
#define _Releases_shared_lock_(...)
#define _Releases_nonreentrant_lock_(...)
#define _Requires_lock_held_(...)
#define _Requires_exclusive_lock_held_(...)
#define _Requires_shared_lock_held_(...)
#define _Requires_lock_not_held_(...)
#define _Post_same_lock_(...)
#define _Create_lock_level_(...)
#define _Has_lock_level_(...)
#define _Has_lock_kind_(...)
#define _Lock_level_order_(...)
#define _Guarded_by_(...)
#define _Write_guarded_by_(...)
#define _Function_ignore_lock_checking_(...)

#define _Requires_no_locks_held_
#define _No_competing_thread_
#define _Interlocked_
#define _Interlocked_operand_

/* Kernel resources other than locks. */
#define _Kernel_acquires_resource_(...)
#define _Kernel_releases_resource_(...)
#define _Kernel_requires_resource_held_(...)
#define _Kernel_requires_resource_not_held_(...)
#define _Kernel_clear_do_init_(...)

#define _Kernel_float_saved_
#define _Kernel_float_restored_
#define _Kernel_float_used_

/* The older spelling. */
#define __drv_maxIRQL(...)
#define __drv_minIRQL(...)
#define __drv_requiresIRQL(...)
#define __drv_raisesIRQL(...)
#define __drv_setsIRQL(...)
#define __drv_maxFunctionIRQL(...)
#define __drv_minFunctionIRQL(...)
#define __drv_savesIRQLGlobal(...)
#define __drv_restoresIRQLGlobal(...)
#define __drv_acquiresResource(...)
#define __drv_acquiresResourceGlobal(...)
#define __drv_acquiresExclusiveResource(...)
#define __drv_acquiresExclusiveResourceGlobal(...)
#define __drv_releasesResource(...)
#define __drv_releasesResourceGlobal(...)
#define __drv_releasesExclusiveResource(...)
#define __drv_releasesExclusiveResourceGlobal(...)
#define __drv_mustHold(...)
#define __drv_mustHoldGlobal(...)
#define __drv_neverHold(...)
#define __drv_neverHoldGlobal(...)
#define __drv_when(...)
#define __drv_at(...)
#define __drv_in(...)
#define __drv_out(...)
#define __drv_ret(...)
#define __drv_fun(...)
#define __drv_arg(...)
#define __drv_deref(...)
#define __drv_in_deref(...)
#define __drv_out_deref(...)
#define __drv_valueIs(...)
#define __drv_functionClass(...)
#define __drv_dispatchType(...)
#define __drv_strictType(...)
#define __drv_strictTypeMatch(...)
#define __drv_allocatesMem(...)
#define __drv_freesMem(...)
#define __drv_reportError(...)
#define __drv_preferredFunction(...)

#define __drv_savesIRQL
#define __drv_restoresIRQL
#define __drv_sameIRQL
#define __drv_useCancelIRQL
#define __drv_isCancelIRQL
#define __drv_acquiresCriticalRegion
#define __drv_releasesCriticalRegion
#define __drv_mustHoldCriticalRegion
#define __drv_neverHoldCriticalRegion
#define __drv_acquiresPriorityRegion
#define __drv_releasesPriorityRegion
#define __drv_mustHoldPriorityRegion
#define __drv_neverHoldPriorityRegion
#define __drv_acquiresCancelSpinLock
#define __drv_releasesCancelSpinLock
#define __drv_mustHoldCancelSpinLock
#define __drv_neverHoldCancelSpinLock
#define __drv_aliasesMem
#define __drv_interlocked
#define __drv_clearDoInit
#define __drv_inTry
#define __drv_notInTry
#define __drv_constant
#define __drv_nonConstant
#define __drv_isObjectPointer
#define __drv_notPointer

/* Statements. */
#define _Analysis_assume_(...)
#define _Analysis_assume_lock_acquired_(...)
#define _Analysis_assume_lock_released_(...)
#define _Analysis_assume_lock_held_(...)
#define _Analysis_assume_lock_not_held_(...)
#define _Analysis_assume_same_lock_(...)
#define _Analysis_suppress_lock_checking_(...)
#define __analysis_assume(...)

#endif /* _NTKLOG_NT_SAL_H */
