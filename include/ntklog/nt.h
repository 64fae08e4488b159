/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NT_H
#define _NTKLOG_NT_H

/*
 * NT's spellings, so that code written for NT compiles as it is: types first,
 * then the functions by header. What a function does is told where its snake_case
 * name is declared. ntklog itself uses none of this.
 *
 * KSPIN_LOCK and EX_SPIN_LOCK are structures here, since lockdep's view of a lock
 * goes with it: `KSPIN_LOCK lock;` with KeInitializeSpinLock() and a static
 * `EX_SPIN_LOCK lock;` work as in NT, an initialisation by `= 0` is spelled
 * `= {}`, and what is in the word is in .word or .value.
 */

#include <linux/types.h>
#include <ntklog/eresource.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/irql.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>
#include <uapi/ntklog/system_information.h>

/* What NT's headers say about arguments; nothing to this compiler. */
#define IN
#define OUT
#define OPTIONAL
#define _In_
#define _Out_
#define _Inout_
#define _In_opt_
#define _Out_opt_
#define NTAPI

#define VOID	void
#ifndef TRUE
#define TRUE	1
#define FALSE	0
#endif

typedef void *PVOID;
typedef char CHAR, *PCHAR;
typedef u8 UCHAR, *PUCHAR;
typedef s16 SHORT, *PSHORT;
typedef u16 USHORT, *PUSHORT;
typedef s32 LONG, *PLONG;
typedef u32 ULONG, *PULONG;
typedef s64 LONGLONG, *PLONGLONG;
typedef u64 ULONGLONG, *PULONGLONG;
typedef long LONG_PTR, *PLONG_PTR;
typedef unsigned long ULONG_PTR, *PULONG_PTR;
typedef ULONG_PTR SIZE_T, *PSIZE_T;
typedef UCHAR BOOLEAN, *PBOOLEAN;
typedef ULONG LOGICAL, *PLOGICAL;
typedef LONG NTSTATUS, *PNTSTATUS;

#define NT_SUCCESS(Status)	((NTSTATUS)(Status) >= 0)
#define STATUS_UNSUCCESSFUL	0xC0000001u

typedef UCHAR KIRQL, *PKIRQL;
typedef struct kspin_lock KSPIN_LOCK, *PKSPIN_LOCK;
typedef struct kspin_lock_queue KSPIN_LOCK_QUEUE, *PKSPIN_LOCK_QUEUE;
typedef struct klock_queue_handle KLOCK_QUEUE_HANDLE, *PKLOCK_QUEUE_HANDLE;
typedef enum kspin_lock_queue_number KSPIN_LOCK_QUEUE_NUMBER;
typedef KSPIN_LOCK_QUEUE_NUMBER *PKSPIN_LOCK_QUEUE_NUMBER;
typedef struct ex_spin_lock EX_SPIN_LOCK, *PEX_SPIN_LOCK;
typedef struct eresource ERESOURCE, *PERESOURCE;
typedef ULONG_PTR ERESOURCE_THREAD, *PERESOURCE_THREAD;

/* Members of KLOCK_QUEUE_HANDLE; a variable of such a name is renamed with them. */
#define LockQueue	lock_queue
#define OldIrql		old_irql

#define LockQueueVacbLock		LOCK_QUEUE_VACB_LOCK
#define LockQueueMasterLock		LOCK_QUEUE_MASTER_LOCK
#define LockQueueNonPagedPoolLock	LOCK_QUEUE_NON_PAGED_POOL_LOCK
#define LockQueueIoCancelLock		LOCK_QUEUE_IO_CANCEL_LOCK
#define LockQueueWorkQueueLock		LOCK_QUEUE_WORK_QUEUE_LOCK
#define LockQueueIoVpbLock		LOCK_QUEUE_IO_VPB_LOCK
#define LockQueueIoDatabaseLock		LOCK_QUEUE_IO_DATABASE_LOCK
#define LockQueueIoCompletionLock	LOCK_QUEUE_IO_COMPLETION_LOCK
#define LockQueueNtfsStructLock		LOCK_QUEUE_NTFS_STRUCT_LOCK
#define LockQueueAfdWorkQueueLock	LOCK_QUEUE_AFD_WORK_QUEUE_LOCK
#define LockQueueBcbLock		LOCK_QUEUE_BCB_LOCK
#define LockQueueMmNonPagedPoolLock	LOCK_QUEUE_MM_NON_PAGED_POOL_LOCK
#define LockQueueMaximumLock		LOCK_QUEUE_MAXIMUM_LOCK

static __always_inline KIRQL KeGetCurrentIrql(void)
{
	return ke_get_current_irql();
}

static __always_inline VOID KeRaiseIrql(KIRQL NewIrql, PKIRQL OldIrql)
{
	ke_raise_irql(NewIrql, OldIrql);
}

static __always_inline VOID KeLowerIrql(KIRQL NewIrql)
{
	ke_lower_irql(NewIrql);
}

static __always_inline KIRQL KeRaiseIrqlToDpcLevel(void)
{
	return ke_raise_irql_to_dpc_level();
}

static __always_inline KIRQL KeRaiseIrqlToSynchLevel(void)
{
	return ke_raise_irql_to_synch_level();
}

static __always_inline VOID KeEnterCriticalRegion(void)
{
	ke_enter_critical_region();
}

static __always_inline VOID KeLeaveCriticalRegion(void)
{
	ke_leave_critical_region();
}

static __always_inline BOOLEAN KeAreApcsDisabled(void)
{
	return ke_are_apcs_disabled();
}

/* A macro, so that lockdep has a class for each place that calls it. */
#define KeInitializeSpinLock(SpinLock)	ke_initialize_spin_lock(SpinLock)

static __always_inline BOOLEAN KeTestSpinLock(PKSPIN_LOCK SpinLock)
{
	return ke_test_spin_lock(SpinLock);
}

static __always_inline VOID
KeAcquireSpinLock(PKSPIN_LOCK SpinLock, PKIRQL OldIrql)
{
	ke_acquire_spin_lock(SpinLock, OldIrql);
}

static __always_inline KIRQL KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock)
{
	return ke_acquire_spin_lock_raise_to_dpc(SpinLock);
}

static __always_inline KIRQL KeAcquireSpinLockRaiseToSynch(PKSPIN_LOCK SpinLock)
{
	return ke_acquire_spin_lock_raise_to_synch(SpinLock);
}

static __always_inline VOID
KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql)
{
	ke_release_spin_lock(SpinLock, NewIrql);
}

static __always_inline VOID KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
	ke_acquire_spin_lock_at_dpc_level(SpinLock);
}

static __always_inline BOOLEAN
KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
	return ke_try_to_acquire_spin_lock_at_dpc_level(SpinLock);
}

static __always_inline VOID KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
{
	ke_release_spin_lock_from_dpc_level(SpinLock);
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK SpinLock,
			       PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock(SpinLock, LockHandle);
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock,
					 PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(SpinLock, LockHandle);
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLockRaiseToSynch(PKSPIN_LOCK SpinLock,
					   PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(SpinLock, LockHandle);
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLockForDpc(PKSPIN_LOCK SpinLock,
				     PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock_for_dpc(SpinLock, LockHandle);
}

static __always_inline VOID
KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_release_in_stack_queued_spin_lock(LockHandle);
}

static __always_inline VOID
KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_release_in_stack_queued_spin_lock_from_dpc_level(LockHandle);
}

static __always_inline VOID
KeReleaseInStackQueuedSpinLockForDpc(PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_release_in_stack_queued_spin_lock_for_dpc(LockHandle);
}

static __always_inline KIRQL
KeAcquireQueuedSpinLock(KSPIN_LOCK_QUEUE_NUMBER Number)
{
	return ke_acquire_queued_spin_lock(Number);
}

static __always_inline KIRQL
KeAcquireQueuedSpinLockRaiseToSynch(KSPIN_LOCK_QUEUE_NUMBER Number)
{
	return ke_acquire_queued_spin_lock_raise_to_synch(Number);
}

static __always_inline BOOLEAN
KeTryToAcquireQueuedSpinLock(KSPIN_LOCK_QUEUE_NUMBER Number, PKIRQL OldIrql)
{
	return ke_try_to_acquire_queued_spin_lock(Number, OldIrql);
}

static __always_inline BOOLEAN
KeTryToAcquireQueuedSpinLockRaiseToSynch(KSPIN_LOCK_QUEUE_NUMBER Number,
					 PKIRQL OldIrql)
{
	return ke_try_to_acquire_queued_spin_lock_raise_to_synch(Number,
								 OldIrql);
}

static __always_inline VOID
KeReleaseQueuedSpinLock(KSPIN_LOCK_QUEUE_NUMBER Number, KIRQL OldIrql)
{
	ke_release_queued_spin_lock(Number, OldIrql);
}

static __always_inline KIRQL ExAcquireSpinLockShared(PEX_SPIN_LOCK SpinLock)
{
	return ex_acquire_spin_lock_shared(SpinLock);
}

static __always_inline VOID
ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_acquire_spin_lock_shared_at_dpc_level(SpinLock);
}

static __always_inline LOGICAL
ExTryAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	return ex_try_acquire_spin_lock_shared_at_dpc_level(SpinLock);
}

static __always_inline VOID
ExReleaseSpinLockShared(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
{
	ex_release_spin_lock_shared(SpinLock, OldIrql);
}

static __always_inline VOID
ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_release_spin_lock_shared_from_dpc_level(SpinLock);
}

static __always_inline KIRQL ExAcquireSpinLockExclusive(PEX_SPIN_LOCK SpinLock)
{
	return ex_acquire_spin_lock_exclusive(SpinLock);
}

static __always_inline VOID
ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_acquire_spin_lock_exclusive_at_dpc_level(SpinLock);
}

static __always_inline LOGICAL
ExTryAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	return ex_try_acquire_spin_lock_exclusive_at_dpc_level(SpinLock);
}

static __always_inline VOID
ExReleaseSpinLockExclusive(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
{
	ex_release_spin_lock_exclusive(SpinLock, OldIrql);
}

static __always_inline VOID
ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_release_spin_lock_exclusive_from_dpc_level(SpinLock);
}

static __always_inline LOGICAL
ExTryConvertSharedSpinLockExclusive(PEX_SPIN_LOCK SpinLock)
{
	return ex_try_convert_shared_spin_lock_exclusive(SpinLock);
}

/* A macro, so that lockdep has a class for each place that calls it. */
#define ExInitializeResourceLite(Resource) \
	((NTSTATUS)ex_initialize_resource_lite(Resource))

static __always_inline NTSTATUS ExReinitializeResourceLite(PERESOURCE Resource)
{
	return ex_reinitialize_resource_lite(Resource);
}

static __always_inline NTSTATUS ExDeleteResourceLite(PERESOURCE Resource)
{
	return ex_delete_resource_lite(Resource);
}

static __always_inline BOOLEAN
ExAcquireResourceExclusiveLite(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_resource_exclusive_lite(Resource, Wait);
}

static __always_inline BOOLEAN
ExTryToAcquireResourceExclusiveLite(PERESOURCE Resource)
{
	return ex_try_to_acquire_resource_exclusive_lite(Resource);
}

static __always_inline BOOLEAN
ExAcquireResourceSharedLite(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_resource_shared_lite(Resource, Wait);
}

static __always_inline BOOLEAN
ExAcquireSharedStarveExclusive(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_shared_starve_exclusive(Resource, Wait);
}

static __always_inline BOOLEAN
ExAcquireSharedWaitForExclusive(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_shared_wait_for_exclusive(Resource, Wait);
}

static __always_inline VOID ExReleaseResourceLite(PERESOURCE Resource)
{
	ex_release_resource_lite(Resource);
}

static __always_inline VOID
ExReleaseResourceForThreadLite(PERESOURCE Resource,
			       ERESOURCE_THREAD ResourceThreadId)
{
	ex_release_resource_for_thread_lite(Resource, ResourceThreadId);
}

static __always_inline VOID
ExConvertExclusiveToSharedLite(PERESOURCE Resource)
{
	ex_convert_exclusive_to_shared_lite(Resource);
}

static __always_inline VOID
ExSetResourceOwnerPointer(PERESOURCE Resource, PVOID OwnerPointer)
{
	ex_set_resource_owner_pointer(Resource, OwnerPointer);
}

static __always_inline VOID
ExSetResourceOwnerPointerEx(PERESOURCE Resource, PVOID OwnerPointer, ULONG Flags)
{
	ex_set_resource_owner_pointer_ex(Resource, OwnerPointer, Flags);
}

/* These return the thread's Win32 part, which no thread has here. */
static __always_inline PVOID
ExEnterCriticalRegionAndAcquireResourceExclusive(PERESOURCE Resource)
{
	ex_enter_critical_region_and_acquire_resource_exclusive(Resource);
	return NULL;
}

static __always_inline PVOID
ExEnterCriticalRegionAndAcquireResourceShared(PERESOURCE Resource)
{
	ex_enter_critical_region_and_acquire_resource_shared(Resource);
	return NULL;
}

static __always_inline PVOID
ExEnterCriticalRegionAndAcquireSharedWaitForExclusive(PERESOURCE Resource)
{
	ex_enter_critical_region_and_acquire_shared_wait_for_exclusive(Resource);
	return NULL;
}

static __always_inline VOID
ExReleaseResourceAndLeaveCriticalRegion(PERESOURCE Resource)
{
	ex_release_resource_and_leave_critical_region(Resource);
}

static __always_inline BOOLEAN
ExIsResourceAcquiredExclusiveLite(PERESOURCE Resource)
{
	return ex_is_resource_acquired_exclusive_lite(Resource);
}

static __always_inline ULONG ExIsResourceAcquiredSharedLite(PERESOURCE Resource)
{
	return ex_is_resource_acquired_shared_lite(Resource);
}

#define ExIsResourceAcquiredLite(Resource) \
	ExIsResourceAcquiredSharedLite(Resource)

static __always_inline ULONG ExGetExclusiveWaiterCount(PERESOURCE Resource)
{
	return ex_get_exclusive_waiter_count(Resource);
}

static __always_inline ULONG ExGetSharedWaiterCount(PERESOURCE Resource)
{
	return ex_get_shared_waiter_count(Resource);
}

static __always_inline ERESOURCE_THREAD ExGetCurrentResourceThread(void)
{
	return ex_get_current_resource_thread();
}

static __always_inline VOID ExDisableResourceBoostLite(PERESOURCE Resource)
{
	ex_disable_resource_boost_lite(Resource);
}

#endif /* _NTKLOG_NT_H */
