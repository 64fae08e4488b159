/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NT_H
#define _NTKLOG_NT_H

/*
 * NT's spellings of the functions and types of ntklog: IRQLs, critical and guarded regions, spin
 * locks and executive resources, with the types, constants and annotations that code around them
 * uses (nt_types.h, nt_sal.h). Each function is documented at its snake_case name. Of ntklog's own
 * code, only tests use this header.
 *
 * Documentation/nt/porting.rst lists the differences from NT.
 */

#include <linux/build_bug.h>
#include <linux/types.h>
#include <ntklog/eresource.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/irql.h>
#include <ntklog/nt_sal.h>
#include <ntklog/nt_types.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

/*
 * As in NT, a lock is a word that can be initialised and assigned. With lockdep a lock is a
 * structure, which also holds the lockdep map. Code that compiles for both writes
 *
 *	KSPIN_LOCK Lock = KSPIN_LOCK_INITIALIZER;
 *	EX_SPIN_LOCK Lock = EX_SPIN_LOCK_INITIALIZER;
 *
 * and, instead of the assignment Lock = 0, KeInitializeSpinLock(&Lock), which NT has too, or
 * ExInitializeSpinLock(&Lock), which NT does not have.
 */
#ifdef CONFIG_DEBUG_LOCK_ALLOC
typedef struct kspin_lock KSPIN_LOCK, *PKSPIN_LOCK;
typedef struct ex_spin_lock EX_SPIN_LOCK, *PEX_SPIN_LOCK;
#define KSPIN_LOCK_INITIALIZER		{ }
#define EX_SPIN_LOCK_INITIALIZER	{ }
#else
typedef ULONG_PTR KSPIN_LOCK, *PKSPIN_LOCK;
typedef volatile LONG EX_SPIN_LOCK, *PEX_SPIN_LOCK;
#define KSPIN_LOCK_INITIALIZER		0
#define EX_SPIN_LOCK_INITIALIZER	0
#endif

/* The structures of queued_spin_lock.h with NT's member names. */
typedef struct _KSPIN_LOCK_QUEUE {
	struct _KSPIN_LOCK_QUEUE *volatile Next;
	PKSPIN_LOCK volatile Lock;
} KSPIN_LOCK_QUEUE, *PKSPIN_LOCK_QUEUE;

typedef struct _KLOCK_QUEUE_HANDLE {
	KSPIN_LOCK_QUEUE LockQueue;
	KIRQL OldIrql;
} KLOCK_QUEUE_HANDLE, *PKLOCK_QUEUE_HANDLE;

typedef enum _KSPIN_LOCK_QUEUE_NUMBER {
	LockQueueUnusedSpare0,
	LockQueueUnusedSpare1,
	LockQueueUnusedSpare2,
	LockQueueUnusedSpare3,
	LockQueueVacbLock,
	LockQueueMasterLock,
	LockQueueNonPagedPoolLock,
	LockQueueIoCancelLock,
	LockQueueUnusedSpare8,
	LockQueueIoVpbLock,
	LockQueueIoDatabaseLock,
	LockQueueIoCompletionLock,
	LockQueueNtfsStructLock,
	LockQueueAfdWorkQueueLock,
	LockQueueBcbLock,
	LockQueueUnusedSpare15,
	LockQueueUnusedSpare16,
	LockQueueMaximumLock,
	/* Names that later versions of NT no longer have. */
	LockQueueDispatcherLock = LockQueueUnusedSpare0,
	LockQueueExpansionLock = LockQueueUnusedSpare1,
	LockQueuePfnLock = LockQueueUnusedSpare2,
	LockQueueSystemSpaceLock = LockQueueUnusedSpare3,
	LockQueueWorkQueueLock = LockQueueUnusedSpare8,
	LockQueueMmNonPagedPoolLock = LockQueueUnusedSpare15,
} KSPIN_LOCK_QUEUE_NUMBER, *PKSPIN_LOCK_QUEUE_NUMBER;

/*
 * struct eresource with NT's names for the members that have the same meaning. They may be read
 * without a lock. ActiveCount and Flag are not members: see ExGetResourceActiveCount() and
 * ExGetResourceFlag().
 */
typedef struct _ERESOURCE {
	union {
		struct eresource resource;
		struct {
			UCHAR reserved[offsetof(struct eresource, contention_count)];
			volatile ULONG ContentionCount;
			volatile ULONG NumberOfSharedWaiters;
			volatile ULONG NumberOfExclusiveWaiters;
		};
	};
} ERESOURCE, *PERESOURCE;

typedef ULONG_PTR ERESOURCE_THREAD, *PERESOURCE_THREAD;

static_assert(sizeof(ERESOURCE) == sizeof(struct eresource));
static_assert(offsetof(ERESOURCE, ContentionCount) ==
	      offsetof(struct eresource, contention_count));
static_assert(offsetof(ERESOURCE, NumberOfSharedWaiters) ==
	      offsetof(struct eresource, shared_waiter_count));
static_assert(offsetof(ERESOURCE, NumberOfExclusiveWaiters) ==
	      offsetof(struct eresource, exclusive_waiter_count));
static_assert(sizeof(KSPIN_LOCK) == sizeof(struct kspin_lock));
static_assert(sizeof(EX_SPIN_LOCK) == sizeof(struct ex_spin_lock));
static_assert(sizeof(KLOCK_QUEUE_HANDLE) == sizeof(struct klock_queue_handle));
static_assert(offsetof(KLOCK_QUEUE_HANDLE, OldIrql) ==
	      offsetof(struct klock_queue_handle, old_irql));
static_assert((int)LockQueueMaximumLock == (int)LOCK_QUEUE_MAXIMUM_LOCK);

/* Bits of ExGetResourceFlag(). The second and the third are never set. */
#define ResourceHasDisabledPriorityBoost	ERESOURCE_FLAG_DISABLE_BOOST
#define ResourceNeverExclusive			0x0010
#define ResourceReleaseByOtherThread		0x0020
#define ResourceOwnedExclusive			ERESOURCE_FLAG_OWNED_EXCLUSIVE

static __always_inline struct kspin_lock *__nt_spin_lock(PKSPIN_LOCK SpinLock)
{
	return (struct kspin_lock *)SpinLock;
}

static __always_inline struct ex_spin_lock *__nt_ex_spin_lock(PEX_SPIN_LOCK SpinLock)
{
	return (struct ex_spin_lock *)SpinLock;
}

static __always_inline struct klock_queue_handle *
__nt_lock_handle(PKLOCK_QUEUE_HANDLE LockHandle)
{
	return (struct klock_queue_handle *)LockHandle;
}

static __always_inline struct eresource *__nt_resource(PERESOURCE Resource)
{
	return (struct eresource *)Resource;
}

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

static __always_inline VOID KeEnterGuardedRegion(void)
{
	ke_enter_guarded_region();
}

static __always_inline VOID KeLeaveGuardedRegion(void)
{
	ke_leave_guarded_region();
}

static __always_inline BOOLEAN KeAreApcsDisabled(void)
{
	return ke_are_apcs_disabled();
}

static __always_inline BOOLEAN KeAreAllApcsDisabled(void)
{
	return ke_are_all_apcs_disabled();
}

/* A macro, so that each use is a lockdep class of its own. */
#define KeInitializeSpinLock(SpinLock)					\
do {									\
	static struct lock_class_key __key;				\
									\
	ke_initialize_spin_lock_class(__nt_spin_lock(SpinLock),		\
				      #SpinLock, &__key);		\
} while (0)

static __always_inline BOOLEAN KeTestSpinLock(PKSPIN_LOCK SpinLock)
{
	return ke_test_spin_lock(__nt_spin_lock(SpinLock));
}

static __always_inline VOID
KeAcquireSpinLock(PKSPIN_LOCK SpinLock, PKIRQL OldIrql)
{
	ke_acquire_spin_lock(__nt_spin_lock(SpinLock), OldIrql);
}

static __always_inline KIRQL KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock)
{
	return ke_acquire_spin_lock_raise_to_dpc(__nt_spin_lock(SpinLock));
}

static __always_inline KIRQL KeAcquireSpinLockRaiseToSynch(PKSPIN_LOCK SpinLock)
{
	return ke_acquire_spin_lock_raise_to_synch(__nt_spin_lock(SpinLock));
}

static __always_inline VOID
KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql)
{
	ke_release_spin_lock(__nt_spin_lock(SpinLock), NewIrql);
}

static __always_inline VOID KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
	ke_acquire_spin_lock_at_dpc_level(__nt_spin_lock(SpinLock));
}

static __always_inline BOOLEAN
KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
	return ke_try_to_acquire_spin_lock_at_dpc_level(__nt_spin_lock(SpinLock));
}

static __always_inline VOID KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
{
	ke_release_spin_lock_from_dpc_level(__nt_spin_lock(SpinLock));
}

#define ExAcquireSpinLock(SpinLock, OldIrql) \
	KeAcquireSpinLock(SpinLock, OldIrql)
#define ExReleaseSpinLock(SpinLock, OldIrql) \
	KeReleaseSpinLock(SpinLock, OldIrql)
#define ExAcquireSpinLockAtDpcLevel(SpinLock) \
	KeAcquireSpinLockAtDpcLevel(SpinLock)
#define ExReleaseSpinLockFromDpcLevel(SpinLock) \
	KeReleaseSpinLockFromDpcLevel(SpinLock)

static __always_inline VOID
KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK SpinLock,
			       PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock(__nt_spin_lock(SpinLock),
					     __nt_lock_handle(LockHandle));
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock,
					 PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(__nt_spin_lock(SpinLock),
							  __nt_lock_handle(LockHandle));
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLockRaiseToSynch(PKSPIN_LOCK SpinLock,
					   PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(__nt_spin_lock(SpinLock),
							    __nt_lock_handle(LockHandle));
}

static __always_inline VOID
KeAcquireInStackQueuedSpinLockForDpc(PKSPIN_LOCK SpinLock,
				     PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_acquire_in_stack_queued_spin_lock_for_dpc(__nt_spin_lock(SpinLock),
						     __nt_lock_handle(LockHandle));
}

static __always_inline VOID
KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_release_in_stack_queued_spin_lock(__nt_lock_handle(LockHandle));
}

static __always_inline VOID
KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_release_in_stack_queued_spin_lock_from_dpc_level(__nt_lock_handle(LockHandle));
}

static __always_inline VOID
KeReleaseInStackQueuedSpinLockForDpc(PKLOCK_QUEUE_HANDLE LockHandle)
{
	ke_release_in_stack_queued_spin_lock_for_dpc(__nt_lock_handle(LockHandle));
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

/* Not in NT: see EX_SPIN_LOCK_INITIALIZER. */
#define ExInitializeSpinLock(SpinLock)					\
do {									\
	static struct lock_class_key __key;				\
									\
	__ex_initialize_spin_lock(__nt_ex_spin_lock(SpinLock),		\
				  #SpinLock, &__key);			\
} while (0)

static __always_inline KIRQL ExAcquireSpinLockShared(PEX_SPIN_LOCK SpinLock)
{
	return ex_acquire_spin_lock_shared(__nt_ex_spin_lock(SpinLock));
}

static __always_inline VOID
ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_acquire_spin_lock_shared_at_dpc_level(__nt_ex_spin_lock(SpinLock));
}

static __always_inline LOGICAL
ExTryAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	return ex_try_acquire_spin_lock_shared_at_dpc_level(__nt_ex_spin_lock(SpinLock));
}

static __always_inline VOID
ExReleaseSpinLockShared(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
{
	ex_release_spin_lock_shared(__nt_ex_spin_lock(SpinLock), OldIrql);
}

static __always_inline VOID
ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_release_spin_lock_shared_from_dpc_level(__nt_ex_spin_lock(SpinLock));
}

static __always_inline KIRQL ExAcquireSpinLockExclusive(PEX_SPIN_LOCK SpinLock)
{
	return ex_acquire_spin_lock_exclusive(__nt_ex_spin_lock(SpinLock));
}

static __always_inline VOID
ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_acquire_spin_lock_exclusive_at_dpc_level(__nt_ex_spin_lock(SpinLock));
}

static __always_inline LOGICAL
ExTryAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	return ex_try_acquire_spin_lock_exclusive_at_dpc_level(__nt_ex_spin_lock(SpinLock));
}

static __always_inline VOID
ExReleaseSpinLockExclusive(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
{
	ex_release_spin_lock_exclusive(__nt_ex_spin_lock(SpinLock), OldIrql);
}

static __always_inline VOID
ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK SpinLock)
{
	ex_release_spin_lock_exclusive_from_dpc_level(__nt_ex_spin_lock(SpinLock));
}

static __always_inline LOGICAL
ExTryConvertSharedSpinLockExclusive(PEX_SPIN_LOCK SpinLock)
{
	return ex_try_convert_shared_spin_lock_exclusive(__nt_ex_spin_lock(SpinLock));
}

#define ExInitializeResourceLite(Resource)				\
({									\
	static struct lock_class_key __key;				\
									\
	(NTSTATUS)__ex_initialize_resource_lite(__nt_resource(Resource),	\
						#Resource, &__key);	\
})

static __always_inline NTSTATUS ExReinitializeResourceLite(PERESOURCE Resource)
{
	return ex_reinitialize_resource_lite(__nt_resource(Resource));
}

static __always_inline NTSTATUS ExDeleteResourceLite(PERESOURCE Resource)
{
	return ex_delete_resource_lite(__nt_resource(Resource));
}

static __always_inline BOOLEAN
ExAcquireResourceExclusiveLite(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_resource_exclusive_lite(__nt_resource(Resource), Wait);
}

static __always_inline BOOLEAN
ExTryToAcquireResourceExclusiveLite(PERESOURCE Resource)
{
	return ex_try_to_acquire_resource_exclusive_lite(__nt_resource(Resource));
}

static __always_inline BOOLEAN
ExAcquireResourceSharedLite(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_resource_shared_lite(__nt_resource(Resource), Wait);
}

static __always_inline BOOLEAN
ExAcquireSharedStarveExclusive(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_shared_starve_exclusive(__nt_resource(Resource), Wait);
}

static __always_inline BOOLEAN
ExAcquireSharedWaitForExclusive(PERESOURCE Resource, BOOLEAN Wait)
{
	return ex_acquire_shared_wait_for_exclusive(__nt_resource(Resource), Wait);
}

static __always_inline VOID ExReleaseResourceLite(PERESOURCE Resource)
{
	ex_release_resource_lite(__nt_resource(Resource));
}

static __always_inline VOID
ExReleaseResourceForThreadLite(PERESOURCE Resource,
			       ERESOURCE_THREAD ResourceThreadId)
{
	ex_release_resource_for_thread_lite(__nt_resource(Resource), ResourceThreadId);
}

static __always_inline VOID
ExConvertExclusiveToSharedLite(PERESOURCE Resource)
{
	ex_convert_exclusive_to_shared_lite(__nt_resource(Resource));
}

static __always_inline VOID
ExSetResourceOwnerPointer(PERESOURCE Resource, PVOID OwnerPointer)
{
	ex_set_resource_owner_pointer(__nt_resource(Resource), OwnerPointer);
}

static __always_inline VOID
ExSetResourceOwnerPointerEx(PERESOURCE Resource, PVOID OwnerPointer, ULONG Flags)
{
	ex_set_resource_owner_pointer_ex(__nt_resource(Resource), OwnerPointer, Flags);
}

/* In NT these return the thread's Win32 part, which does not exist here. */
static __always_inline PVOID
ExEnterCriticalRegionAndAcquireResourceExclusive(PERESOURCE Resource)
{
	ex_enter_critical_region_and_acquire_resource_exclusive(__nt_resource(Resource));
	return NULL;
}

static __always_inline PVOID
ExEnterCriticalRegionAndAcquireResourceShared(PERESOURCE Resource)
{
	ex_enter_critical_region_and_acquire_resource_shared(__nt_resource(Resource));
	return NULL;
}

static __always_inline PVOID
ExEnterCriticalRegionAndAcquireSharedWaitForExclusive(PERESOURCE Resource)
{
	ex_enter_critical_region_and_acquire_shared_wait_for_exclusive(__nt_resource(Resource));
	return NULL;
}

static __always_inline VOID
ExReleaseResourceAndLeaveCriticalRegion(PERESOURCE Resource)
{
	ex_release_resource_and_leave_critical_region(__nt_resource(Resource));
}

static __always_inline BOOLEAN
ExIsResourceAcquiredExclusiveLite(PERESOURCE Resource)
{
	return ex_is_resource_acquired_exclusive_lite(__nt_resource(Resource));
}

static __always_inline ULONG ExIsResourceAcquiredSharedLite(PERESOURCE Resource)
{
	return ex_is_resource_acquired_shared_lite(__nt_resource(Resource));
}

#define ExIsResourceAcquiredLite(Resource) \
	ExIsResourceAcquiredSharedLite(Resource)

/* Older names of NT. */
#define ExInitializeResource(Resource)	ExInitializeResourceLite(Resource)
#define ExDeleteResource(Resource)	ExDeleteResourceLite(Resource)
#define ExAcquireResourceExclusive(Resource, Wait) \
	ExAcquireResourceExclusiveLite(Resource, Wait)
#define ExAcquireResourceShared(Resource, Wait) \
	ExAcquireResourceSharedLite(Resource, Wait)
#define ExReleaseResource(Resource)	ExReleaseResourceLite(Resource)
#define ExReleaseResourceForThread(Resource, ResourceThreadId) \
	ExReleaseResourceForThreadLite(Resource, ResourceThreadId)
#define ExConvertExclusiveToShared(Resource) \
	ExConvertExclusiveToSharedLite(Resource)
#define ExIsResourceAcquiredExclusive(Resource) \
	ExIsResourceAcquiredExclusiveLite(Resource)
#define ExIsResourceAcquiredShared(Resource) \
	ExIsResourceAcquiredSharedLite(Resource)
#define ExIsResourceAcquired(Resource)	ExIsResourceAcquiredSharedLite(Resource)
#define ExDisableResourceBoost(Resource) \
	ExDisableResourceBoostLite(Resource)

static __always_inline ULONG ExGetExclusiveWaiterCount(PERESOURCE Resource)
{
	return ex_get_exclusive_waiter_count(__nt_resource(Resource));
}

static __always_inline ULONG ExGetSharedWaiterCount(PERESOURCE Resource)
{
	return ex_get_shared_waiter_count(__nt_resource(Resource));
}

/* Not in NT, where code reads Resource->ActiveCount and Resource->Flag. */
static __always_inline SHORT ExGetResourceActiveCount(PERESOURCE Resource)
{
	return ex_get_resource_active_count(__nt_resource(Resource));
}

static __always_inline USHORT ExGetResourceFlag(PERESOURCE Resource)
{
	return ex_get_resource_flag(__nt_resource(Resource));
}

static __always_inline ERESOURCE_THREAD ExGetCurrentResourceThread(void)
{
	return ex_get_current_resource_thread();
}

static __always_inline VOID ExDisableResourceBoostLite(PERESOURCE Resource)
{
	ex_disable_resource_boost_lite(__nt_resource(Resource));
}

#endif /* _NTKLOG_NT_H */
