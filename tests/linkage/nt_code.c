// SPDX-License-Identifier: GPL-2.0-only
/* Call the functions of nt.h and nt_types.h as NT code does. */

#define DBG 1

#include <ntklog/nt.h>

#include "linkage.h"

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static KSPIN_LOCK SpinLock;
static EX_SPIN_LOCK TableLock;
#else
/* Without lockdep a lock can be initialized by 0, as in NT. */
static KSPIN_LOCK SpinLock = 0;
static EX_SPIN_LOCK TableLock = 0;
#endif
static KSPIN_LOCK OtherLock = KSPIN_LOCK_INITIALIZER;
static EX_SPIN_LOCK OtherTableLock = EX_SPIN_LOCK_INITIALIZER;
static ERESOURCE Resource;

static int UseIrqls(VOID)
{
	KIRQL OldIrql;

	PAGED_CODE();

	KeRaiseIrql(APC_LEVEL, &OldIrql);
	KeLowerIrql(OldIrql);
	OldIrql = KeRaiseIrqlToDpcLevel();
	REQUIRE(KeRaiseIrqlToSynchLevel() == DISPATCH_LEVEL);
	REQUIRE(KeGetCurrentIrql() == SYNCH_LEVEL);
	KeLowerIrql(OldIrql);
	KeEnterCriticalRegion();
	REQUIRE(KeAreApcsDisabled());
	KeLeaveCriticalRegion();
	KeEnterGuardedRegion();
	REQUIRE(KeAreAllApcsDisabled());
	KeLeaveGuardedRegion();
	return 0;
}

static int UseSpinLocks(VOID)
{
	KIRQL OldIrql;

	KeInitializeSpinLock(&SpinLock);
	KeAcquireSpinLock(&SpinLock, &OldIrql);
	ASSERT(!KeTestSpinLock(&SpinLock));
	KeReleaseSpinLock(&SpinLock, OldIrql);
	OldIrql = KeAcquireSpinLockRaiseToDpc(&SpinLock);
	KeReleaseSpinLockFromDpcLevel(&SpinLock);
	KeAcquireSpinLockAtDpcLevel(&SpinLock);
	KeReleaseSpinLockFromDpcLevel(&SpinLock);
	REQUIRE(KeTryToAcquireSpinLockAtDpcLevel(&SpinLock));
	KeReleaseSpinLock(&SpinLock, OldIrql);
	OldIrql = KeAcquireSpinLockRaiseToSynch(&SpinLock);
	KeReleaseSpinLock(&SpinLock, OldIrql);
	ExAcquireSpinLock(&OtherLock, &OldIrql);
	ExReleaseSpinLockFromDpcLevel(&OtherLock);
	ExAcquireSpinLockAtDpcLevel(&OtherLock);
	ExReleaseSpinLock(&OtherLock, OldIrql);
	return 0;
}

static int UseQueuedSpinLocks(VOID)
{
	KLOCK_QUEUE_HANDLE LockHandle;
	PKSPIN_LOCK_QUEUE LockQueue = &LockHandle.LockQueue;
	KSPIN_LOCK_QUEUE_NUMBER Number;
	KIRQL OldIrql;

	KeAcquireInStackQueuedSpinLock(&SpinLock, &LockHandle);
	REQUIRE(LockHandle.OldIrql == PASSIVE_LEVEL && !LockQueue->Next);
	KeReleaseInStackQueuedSpinLock(&LockHandle);
	REQUIRE(LockQueue->Lock == &SpinLock);
	KeAcquireInStackQueuedSpinLockRaiseToSynch(&SpinLock, &LockHandle);
	KeReleaseInStackQueuedSpinLock(&LockHandle);
	KeAcquireInStackQueuedSpinLockForDpc(&SpinLock, &LockHandle);
	KeReleaseInStackQueuedSpinLockForDpc(&LockHandle);
	OldIrql = KeRaiseIrqlToDpcLevel();
	KeAcquireInStackQueuedSpinLockAtDpcLevel(&SpinLock, &LockHandle);
	KeReleaseInStackQueuedSpinLockFromDpcLevel(&LockHandle);
	KeLowerIrql(OldIrql);

	for (Number = LockQueueUnusedSpare0; Number < LockQueueMaximumLock; Number++) {
		OldIrql = KeAcquireQueuedSpinLock(Number);
		KeReleaseQueuedSpinLock(Number, OldIrql);
		OldIrql = KeAcquireQueuedSpinLockRaiseToSynch(Number);
		KeReleaseQueuedSpinLock(Number, OldIrql);
		REQUIRE(KeTryToAcquireQueuedSpinLock(Number, &OldIrql));
		KeReleaseQueuedSpinLock(Number, OldIrql);
		REQUIRE(KeTryToAcquireQueuedSpinLockRaiseToSynch(Number, &OldIrql));
		KeReleaseQueuedSpinLock(Number, OldIrql);
	}
	return 0;
}

static int UseExSpinLocks(VOID)
{
	KIRQL OldIrql;

	ExInitializeSpinLock(&TableLock);
	OldIrql = ExAcquireSpinLockShared(&TableLock);
	REQUIRE(ExTryConvertSharedSpinLockExclusive(&TableLock));
	ExReleaseSpinLockExclusive(&TableLock, OldIrql);
	OldIrql = ExAcquireSpinLockExclusive(&OtherTableLock);
	ExReleaseSpinLockExclusiveFromDpcLevel(&OtherTableLock);
	ExAcquireSpinLockSharedAtDpcLevel(&OtherTableLock);
	ExReleaseSpinLockSharedFromDpcLevel(&OtherTableLock);
	ExAcquireSpinLockExclusiveAtDpcLevel(&OtherTableLock);
	ExReleaseSpinLockExclusiveFromDpcLevel(&OtherTableLock);
	REQUIRE(ExTryAcquireSpinLockExclusiveAtDpcLevel(&OtherTableLock));
	ExReleaseSpinLockExclusiveFromDpcLevel(&OtherTableLock);
	REQUIRE(ExTryAcquireSpinLockSharedAtDpcLevel(&OtherTableLock));
	ExReleaseSpinLockShared(&OtherTableLock, OldIrql);
	return 0;
}

static int UseResources(VOID)
{
	ERESOURCE_THREAD Thread = ExGetCurrentResourceThread();
	ERESOURCE_THREAD Pointer = (ERESOURCE_THREAD)&Resource | 3;

	REQUIRE(NT_SUCCESS(ExInitializeResourceLite(&Resource)));
	REQUIRE(ExAcquireResourceExclusiveLite(&Resource, TRUE));
	REQUIRE(ExTryToAcquireResourceExclusiveLite(&Resource));
	REQUIRE(ExIsResourceAcquiredExclusiveLite(&Resource));
	REQUIRE(ExGetResourceActiveCount(&Resource) == 1);
	ExDisableResourceBoostLite(&Resource);
	REQUIRE(ExGetResourceFlag(&Resource) ==
		(ResourceHasDisabledPriorityBoost | ResourceOwnedExclusive));
	ExConvertExclusiveToSharedLite(&Resource);
	REQUIRE(ExAcquireResourceSharedLite(&Resource, TRUE));
	REQUIRE(ExAcquireSharedStarveExclusive(&Resource, TRUE));
	REQUIRE(ExAcquireSharedWaitForExclusive(&Resource, TRUE));
	REQUIRE(ExIsResourceAcquiredSharedLite(&Resource) == 5);
	REQUIRE(ExIsResourceAcquiredLite(&Resource) == 5);
	ExReleaseResourceLite(&Resource);
	ExReleaseResourceForThreadLite(&Resource, Thread);
	REQUIRE(ExGetExclusiveWaiterCount(&Resource) == Resource.NumberOfExclusiveWaiters);
	REQUIRE(ExGetSharedWaiterCount(&Resource) == Resource.NumberOfSharedWaiters);
	REQUIRE(Resource.ContentionCount == 0);
	ExSetResourceOwnerPointer(&Resource, &Resource);
	ExReleaseResourceForThreadLite(&Resource, Pointer);
	ExReleaseResourceForThreadLite(&Resource, Pointer);
	ExReleaseResourceForThreadLite(&Resource, Pointer);

	REQUIRE(!ExEnterCriticalRegionAndAcquireResourceExclusive(&Resource));
	ExReleaseResourceAndLeaveCriticalRegion(&Resource);
	REQUIRE(!ExEnterCriticalRegionAndAcquireResourceShared(&Resource));
	ExReleaseResourceAndLeaveCriticalRegion(&Resource);
	REQUIRE(!ExEnterCriticalRegionAndAcquireSharedWaitForExclusive(&Resource));
	ExSetResourceOwnerPointerEx(&Resource, &Resource, FLAG_OWNER_POINTER_IS_THREAD);
	ExReleaseResourceForThreadLite(&Resource, Pointer);
	KeLeaveCriticalRegion();
	REQUIRE(NT_SUCCESS(ExReinitializeResourceLite(&Resource)));
	REQUIRE(NT_SUCCESS(ExDeleteResourceLite(&Resource)));
	return 0;
}

static int UseResourcesByOlderNames(VOID)
{
	REQUIRE(NT_SUCCESS(ExInitializeResource(&Resource)));
	REQUIRE(ExAcquireResourceExclusive(&Resource, TRUE));
	REQUIRE(ExIsResourceAcquiredExclusive(&Resource));
	ExDisableResourceBoost(&Resource);
	ExConvertExclusiveToShared(&Resource);
	REQUIRE(ExAcquireResourceShared(&Resource, TRUE));
	REQUIRE(ExIsResourceAcquiredShared(&Resource) == 2);
	REQUIRE(ExIsResourceAcquired(&Resource) == 2);
	ExReleaseResource(&Resource);
	ExReleaseResourceForThread(&Resource, ExGetCurrentResourceThread());
	REQUIRE(NT_SUCCESS(ExDeleteResource(&Resource)));
	return 0;
}

typedef struct _ITEM {
	DECLSPEC_ALIGN(16) ULONG Number;
	LIST_ENTRY ListEntry;
	SINGLE_LIST_ENTRY SingleListEntry;
} ITEM;

static int UseLists(VOID)
{
	LIST_ENTRY Head, Other;
	SINGLE_LIST_ENTRY SingleHead = { NULL };
	ITEM Items[4] = { { 0 }, { 1 }, { 2 }, { 3 } };
	PLIST_ENTRY Entry;
	ULONG i;

	C_ASSERT(FIELD_OFFSET(ITEM, Number) == 0 && RTL_NUMBER_OF(Items) == 4);
	C_ASSERT(__alignof__(ITEM) == 16 && MAXULONG == (ULONG)-1);
	REQUIRE(ARGUMENT_PRESENT(Items));

	InitializeListHead(&Head);
	InitializeListHead(&Other);
	REQUIRE(IsListEmpty(&Head));
	InsertTailList(&Head, &Items[1].ListEntry);
	InsertHeadList(&Head, &Items[0].ListEntry);
	InsertTailList(&Other, &Items[2].ListEntry);
	InsertTailList(&Other, &Items[3].ListEntry);
	/* AppendTailList() takes a list without its head. */
	REQUIRE(!RemoveEntryList(&Other));
	AppendTailList(&Head, &Items[2].ListEntry);
	i = 0;
	for (Entry = Head.Flink; Entry != &Head; Entry = Entry->Flink)
		REQUIRE(CONTAINING_RECORD(Entry, ITEM, ListEntry)->Number == i++);
	REQUIRE(i == 4);
	for (Entry = Head.Blink; Entry != &Head; Entry = Entry->Blink)
		REQUIRE(CONTAINING_RECORD(Entry, ITEM, ListEntry)->Number == --i);
	REQUIRE(RemoveHeadList(&Head) == &Items[0].ListEntry);
	REQUIRE(RemoveTailList(&Head) == &Items[3].ListEntry);
	REQUIRE(!RemoveEntryList(&Items[1].ListEntry));
	REQUIRE(RemoveEntryList(&Items[2].ListEntry));
	REQUIRE(IsListEmpty(&Head));

	REQUIRE(!PopEntryList(&SingleHead));
	for (i = 0; i < 4; i++)
		PushEntryList(&SingleHead, &Items[i].SingleListEntry);
	while (i--)
		REQUIRE(PopEntryList(&SingleHead) == &Items[i].SingleListEntry);
	REQUIRE(!SingleHead.Next);
	return 0;
}

int linkage_nt_code(void)
{
	int Line;

	Line = UseIrqls() ?: UseSpinLocks() ?: UseQueuedSpinLocks() ?:
	       UseExSpinLocks() ?: UseResources() ?: UseResourcesByOlderNames() ?:
	       UseLists();
	if (!Line)
		REQUIRE(KeGetCurrentIrql() == PASSIVE_LEVEL);
	return Line;
}
