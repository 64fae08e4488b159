// SPDX-License-Identifier: GPL-2.0-only
/* Code as written for NT. The NTSTATUS says whether NT's guarantees held. */

#include <ntklog/nt.h>

#include "nt_driver.h"

#define REQUIRE(Condition)				\
do {							\
	if (!(Condition))				\
		return STATUS_UNSUCCESSFUL;		\
} while (0)

typedef struct _DEVICE_EXTENSION {
	KSPIN_LOCK Lock;
	DECLSPEC_ALIGN(64) EX_SPIN_LOCK TableLock;
	ERESOURCE Resource;
	ULONG Requests;
} DEVICE_EXTENSION, *PDEVICE_EXTENSION;

C_ASSERT(FIELD_OFFSET(DEVICE_EXTENSION, TableLock) == 64);
C_ASSERT(MAXULONG == (ULONG)-1);

static DEVICE_EXTENSION Extension;
static KSPIN_LOCK StaticLock = KSPIN_LOCK_INITIALIZER;
static EX_SPIN_LOCK StaticTableLock = EX_SPIN_LOCK_INITIALIZER;

NTSTATUS NtTestIrql(VOID)
{
	KIRQL OldIrql, DpcIrql;

	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);
	KeRaiseIrql(APC_LEVEL, &OldIrql);
	REQUIRE(OldIrql == PASSIVE_LEVEL && KeGetCurrentIrql() == APC_LEVEL);
	DpcIrql = KeRaiseIrqlToDpcLevel();
	REQUIRE(DpcIrql == APC_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
	REQUIRE(KeRaiseIrqlToSynchLevel() == DISPATCH_LEVEL);
	REQUIRE(KeGetCurrentIrql() == SYNCH_LEVEL);
	KeLowerIrql(DISPATCH_LEVEL);
	KeLowerIrql(DpcIrql);
	KeLowerIrql(OldIrql);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);
	return STATUS_SUCCESS;
}

NTSTATUS NtTestSpinLock(VOID)
{
	PDEVICE_EXTENSION DeviceExtension = &Extension;
	KIRQL OldIrql;

	KeInitializeSpinLock(&DeviceExtension->Lock);
	REQUIRE(KeTestSpinLock(&DeviceExtension->Lock) == TRUE);

	KeAcquireSpinLock(&DeviceExtension->Lock, &OldIrql);
	DeviceExtension->Requests += 1;
	REQUIRE(OldIrql == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
	REQUIRE(KeTestSpinLock(&DeviceExtension->Lock) == FALSE);
	REQUIRE(!KeTryToAcquireSpinLockAtDpcLevel(&DeviceExtension->Lock));
	KeReleaseSpinLock(&DeviceExtension->Lock, OldIrql);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);

	OldIrql = KeAcquireSpinLockRaiseToDpc(&DeviceExtension->Lock);
	KeReleaseSpinLockFromDpcLevel(&DeviceExtension->Lock);
	KeAcquireSpinLockAtDpcLevel(&DeviceExtension->Lock);
	KeReleaseSpinLockFromDpcLevel(&DeviceExtension->Lock);
	REQUIRE(KeTryToAcquireSpinLockAtDpcLevel(&DeviceExtension->Lock));
	KeReleaseSpinLock(&DeviceExtension->Lock, OldIrql);

	OldIrql = KeAcquireSpinLockRaiseToSynch(&DeviceExtension->Lock);
	REQUIRE(KeGetCurrentIrql() == SYNCH_LEVEL);
	KeReleaseSpinLock(&DeviceExtension->Lock, OldIrql);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);

	ExAcquireSpinLock(&StaticLock, &OldIrql);
	ExReleaseSpinLockFromDpcLevel(&StaticLock);
	ExAcquireSpinLockAtDpcLevel(&StaticLock);
	ExReleaseSpinLock(&StaticLock, OldIrql);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);
	return STATUS_SUCCESS;
}

NTSTATUS NtTestInStackQueuedSpinLock(VOID)
{
	PDEVICE_EXTENSION DeviceExtension = &Extension;
	KLOCK_QUEUE_HANDLE LockHandle;
	KIRQL OldIrql;

	KeInitializeSpinLock(&DeviceExtension->Lock);
	KeAcquireInStackQueuedSpinLock(&DeviceExtension->Lock, &LockHandle);
	REQUIRE(LockHandle.OldIrql == PASSIVE_LEVEL);
	REQUIRE(KeTestSpinLock(&DeviceExtension->Lock) == FALSE);
	/* The owner bit is in the member Lock. */
	REQUIRE(LockHandle.LockQueue.Next == NULL);
	REQUIRE((ULONG_PTR)LockHandle.LockQueue.Lock ==
		((ULONG_PTR)&DeviceExtension->Lock | LOCK_QUEUE_OWNER));
	KeReleaseInStackQueuedSpinLock(&LockHandle);
	REQUIRE(LockHandle.LockQueue.Lock == &DeviceExtension->Lock);

	OldIrql = KeRaiseIrqlToDpcLevel();
	KeAcquireInStackQueuedSpinLockAtDpcLevel(&DeviceExtension->Lock, &LockHandle);
	KeReleaseInStackQueuedSpinLockFromDpcLevel(&LockHandle);
	KeLowerIrql(OldIrql);

	KeAcquireInStackQueuedSpinLockRaiseToSynch(&DeviceExtension->Lock, &LockHandle);
	REQUIRE(KeGetCurrentIrql() == SYNCH_LEVEL);
	KeReleaseInStackQueuedSpinLock(&LockHandle);

	KeAcquireInStackQueuedSpinLockForDpc(&DeviceExtension->Lock, &LockHandle);
	REQUIRE(KeGetCurrentIrql() == DISPATCH_LEVEL);
	KeReleaseInStackQueuedSpinLockForDpc(&LockHandle);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);
	return STATUS_SUCCESS;
}

NTSTATUS NtTestQueuedSpinLock(VOID)
{
	KSPIN_LOCK_QUEUE_NUMBER Number = LockQueueIoDatabaseLock;
	KIRQL OldIrql;

	OldIrql = KeAcquireQueuedSpinLock(Number);
	REQUIRE(OldIrql == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
	KeReleaseQueuedSpinLock(Number, OldIrql);

	OldIrql = KeAcquireQueuedSpinLockRaiseToSynch(LockQueueMasterLock);
	REQUIRE(KeGetCurrentIrql() == SYNCH_LEVEL);
	KeReleaseQueuedSpinLock(LockQueueMasterLock, OldIrql);

	OldIrql = KeAcquireQueuedSpinLock(LockQueuePfnLock);
	KeReleaseQueuedSpinLock(LockQueuePfnLock, OldIrql);
	REQUIRE(KeTryToAcquireQueuedSpinLock(Number, &OldIrql));
	KeReleaseQueuedSpinLock(Number, OldIrql);
	REQUIRE(KeTryToAcquireQueuedSpinLockRaiseToSynch(LockQueueMasterLock, &OldIrql));
	KeReleaseQueuedSpinLock(LockQueueMasterLock, OldIrql);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);
	return STATUS_SUCCESS;
}

NTSTATUS NtTestExSpinLock(VOID)
{
	PEX_SPIN_LOCK SpinLock = &Extension.TableLock;
	KIRQL OldIrql;

	OldIrql = ExAcquireSpinLockShared(SpinLock);
	REQUIRE(OldIrql == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
	REQUIRE(!ExTryAcquireSpinLockExclusiveAtDpcLevel(SpinLock));
	REQUIRE(ExTryConvertSharedSpinLockExclusive(SpinLock));
	REQUIRE(!ExTryAcquireSpinLockSharedAtDpcLevel(SpinLock));
	ExReleaseSpinLockExclusive(SpinLock, OldIrql);

	OldIrql = ExAcquireSpinLockExclusive(SpinLock);
	ExReleaseSpinLockExclusiveFromDpcLevel(SpinLock);
	ExAcquireSpinLockSharedAtDpcLevel(SpinLock);
	ExReleaseSpinLockSharedFromDpcLevel(SpinLock);
	ExAcquireSpinLockExclusiveAtDpcLevel(SpinLock);
	ExReleaseSpinLockExclusiveFromDpcLevel(SpinLock);
	REQUIRE(ExTryAcquireSpinLockSharedAtDpcLevel(SpinLock));
	ExReleaseSpinLockSharedFromDpcLevel(SpinLock);
	REQUIRE(ExTryAcquireSpinLockExclusiveAtDpcLevel(SpinLock));
	ExReleaseSpinLockExclusive(SpinLock, OldIrql);
	OldIrql = ExAcquireSpinLockShared(SpinLock);
	ExReleaseSpinLockShared(SpinLock, OldIrql);
	REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);

	OldIrql = ExAcquireSpinLockExclusive(&StaticTableLock);
	ExReleaseSpinLockExclusive(&StaticTableLock, OldIrql);
	ExInitializeSpinLock(&StaticTableLock);
	OldIrql = ExAcquireSpinLockShared(&StaticTableLock);
	ExReleaseSpinLockShared(&StaticTableLock, OldIrql);
	return STATUS_SUCCESS;
}

NTSTATUS NtTestCriticalRegion(VOID)
{
	REQUIRE(!KeAreApcsDisabled());
	KeEnterCriticalRegion();
	KeEnterCriticalRegion();
	REQUIRE(KeAreApcsDisabled());
	KeLeaveCriticalRegion();
	REQUIRE(KeAreApcsDisabled());
	KeLeaveCriticalRegion();
	REQUIRE(!KeAreApcsDisabled());
	return STATUS_SUCCESS;
}

NTSTATUS NtTestGuardedRegion(VOID)
{
	KIRQL OldIrql;

	REQUIRE(!KeAreApcsDisabled() && !KeAreAllApcsDisabled());
	KeEnterGuardedRegion();
	KeEnterGuardedRegion();
	KeLeaveGuardedRegion();
	REQUIRE(KeAreApcsDisabled() && KeAreAllApcsDisabled());
	KeLeaveGuardedRegion();
	REQUIRE(!KeAreApcsDisabled() && !KeAreAllApcsDisabled());
	KeEnterCriticalRegion();
	REQUIRE(KeAreApcsDisabled() && !KeAreAllApcsDisabled());
	KeLeaveCriticalRegion();
	KeRaiseIrql(APC_LEVEL, &OldIrql);
	REQUIRE(!KeAreApcsDisabled() && KeAreAllApcsDisabled());
	KeLowerIrql(OldIrql);
	return STATUS_SUCCESS;
}

NTSTATUS NtTestResourceState(VOID)
{
	PERESOURCE Resource = &Extension.Resource;

	REQUIRE(NT_SUCCESS(ExInitializeResource(Resource)));
	REQUIRE(ExGetResourceActiveCount(Resource) == 0);
	REQUIRE(ExAcquireResourceShared(Resource, TRUE));
	REQUIRE(ExGetResourceActiveCount(Resource) == 1);
	REQUIRE(!(ExGetResourceFlag(Resource) & ResourceOwnedExclusive));
	ExReleaseResource(Resource);
	REQUIRE(ExAcquireResourceExclusive(Resource, TRUE));
	REQUIRE(ExGetResourceFlag(Resource) & ResourceOwnedExclusive);
	REQUIRE(Resource->ContentionCount == 0);
	REQUIRE(Resource->NumberOfSharedWaiters == 0);
	REQUIRE(Resource->NumberOfExclusiveWaiters == 0);
	ExDisableResourceBoost(Resource);
	REQUIRE(ExGetResourceFlag(Resource) & ResourceHasDisabledPriorityBoost);
	ExConvertExclusiveToShared(Resource);
	REQUIRE(!ExIsResourceAcquiredExclusive(Resource));
	REQUIRE(ExIsResourceAcquiredShared(Resource) && ExIsResourceAcquired(Resource));
	ExReleaseResourceForThread(Resource, ExGetCurrentResourceThread());
	REQUIRE(NT_SUCCESS(ExDeleteResource(Resource)));
	return STATUS_SUCCESS;
}

NTSTATUS NtTestResource(VOID)
{
	PERESOURCE Resource = &Extension.Resource;

	REQUIRE(NT_SUCCESS(ExInitializeResourceLite(Resource)));
	ExDisableResourceBoostLite(Resource);

	KeEnterCriticalRegion();
	REQUIRE(ExAcquireResourceExclusiveLite(Resource, TRUE));
	REQUIRE(ExTryToAcquireResourceExclusiveLite(Resource));
	REQUIRE(ExIsResourceAcquiredExclusiveLite(Resource));
	REQUIRE(ExIsResourceAcquiredSharedLite(Resource) == 2);
	ExReleaseResourceLite(Resource);
	ExConvertExclusiveToSharedLite(Resource);
	REQUIRE(!ExIsResourceAcquiredExclusiveLite(Resource));
	REQUIRE(ExIsResourceAcquiredLite(Resource) == 1);
	REQUIRE(!ExAcquireResourceExclusiveLite(Resource, FALSE));
	REQUIRE(ExAcquireResourceSharedLite(Resource, TRUE));
	REQUIRE(ExAcquireSharedStarveExclusive(Resource, FALSE));
	REQUIRE(ExAcquireSharedWaitForExclusive(Resource, FALSE));
	REQUIRE(ExIsResourceAcquiredSharedLite(Resource) == 4);
	REQUIRE(ExGetExclusiveWaiterCount(Resource) == 0);
	REQUIRE(ExGetSharedWaiterCount(Resource) == 0);
	ExReleaseResourceLite(Resource);
	ExReleaseResourceLite(Resource);
	ExReleaseResourceLite(Resource);
	ExReleaseResourceForThreadLite(Resource, ExGetCurrentResourceThread());
	REQUIRE(ExIsResourceAcquiredSharedLite(Resource) == 0);
	KeLeaveCriticalRegion();

	ExEnterCriticalRegionAndAcquireResourceExclusive(Resource);
	REQUIRE(ExIsResourceAcquiredExclusiveLite(Resource) && KeAreApcsDisabled());
	ExReleaseResourceAndLeaveCriticalRegion(Resource);
	ExEnterCriticalRegionAndAcquireResourceShared(Resource);
	ExReleaseResourceAndLeaveCriticalRegion(Resource);
	ExEnterCriticalRegionAndAcquireSharedWaitForExclusive(Resource);
	ExReleaseResourceAndLeaveCriticalRegion(Resource);
	REQUIRE(!KeAreApcsDisabled());

	REQUIRE(NT_SUCCESS(ExReinitializeResourceLite(Resource)));
	REQUIRE(NT_SUCCESS(ExDeleteResourceLite(Resource)));
	return STATUS_SUCCESS;
}

NTSTATUS NtTestResourceOwnerPointer(VOID)
{
	PERESOURCE Resource = &Extension.Resource;
	ERESOURCE_THREAD Owner = (ERESOURCE_THREAD)&Extension | 3;

	REQUIRE(NT_SUCCESS(ExInitializeResourceLite(Resource)));
	REQUIRE(ExAcquireResourceExclusiveLite(Resource, TRUE));
	ExSetResourceOwnerPointer(Resource, (PVOID)Owner);
	REQUIRE(!ExIsResourceAcquiredExclusiveLite(Resource));
	REQUIRE(!ExAcquireResourceSharedLite(Resource, FALSE));
	ExReleaseResourceForThreadLite(Resource, Owner);
	REQUIRE(ExAcquireResourceSharedLite(Resource, FALSE));
	ExSetResourceOwnerPointerEx(Resource, (PVOID)Owner, 0);
	REQUIRE(!ExTryToAcquireResourceExclusiveLite(Resource));
	ExReleaseResourceForThreadLite(Resource, Owner);
	REQUIRE(ExTryToAcquireResourceExclusiveLite(Resource));
	ExReleaseResourceLite(Resource);
	REQUIRE(NT_SUCCESS(ExDeleteResourceLite(Resource)));
	return STATUS_SUCCESS;
}
