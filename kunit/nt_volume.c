// SPDX-License-Identifier: GPL-2.0-only
/*
 * A part of a driver as written for NT, with annotations: a volume with files, a queue of requests
 * for them, and a cache of blocks.
 */

#define DBG 1

#include <ntklog/nt.h>

#include "nt_driver.h"

#define FILES_PER_VOLUME	4
#define REQUESTS_PER_VOLUME	16
#define BLOCKS_IN_CACHE		8
#define ROUNDS			400

typedef enum _REQUEST_STATE {
	RequestFree,
	RequestPending,
	RequestDone,
} REQUEST_STATE;

typedef struct _REQUEST {
	LIST_ENTRY ListEntry;
	REQUEST_STATE State;
	ULONG File;
	LARGE_INTEGER Offset;
	_Field_range_(0, 0x1000) ULONG Length;
} REQUEST, *PREQUEST;

typedef struct _FCB {
	ERESOURCE MainResource;
	ERESOURCE PagingIoResource;
	LARGE_INTEGER FileSize;
	ULONG Reads;
	ULONG Writes;
} FCB, *PFCB;

typedef struct _VOLUME {
	PCSTR Name;
	HANDLE Owner;
	FCB Files[FILES_PER_VOLUME];

	KSPIN_LOCK FreeLock;
	_Guarded_by_(FreeLock) LIST_ENTRY FreeList;
	KSPIN_LOCK QueueLock;
	_Guarded_by_(QueueLock) LIST_ENTRY PendingList;
	_Guarded_by_(QueueLock) ULONG Pending;
	REQUEST Requests[REQUESTS_PER_VOLUME];

	EX_SPIN_LOCK CacheLock;
	_Write_guarded_by_(CacheLock) ULONGLONG Cache[BLOCKS_IN_CACHE];
} VOLUME, *PVOLUME;

_Function_class_(REQUEST_ROUTINE)
_IRQL_requires_max_(APC_LEVEL)
_IRQL_requires_same_
_Must_inspect_result_
typedef NTSTATUS NTAPI REQUEST_ROUTINE(_Inout_ PVOLUME Volume, _In_ PREQUEST Request);

typedef REQUEST_ROUTINE *PREQUEST_ROUTINE;

static VOLUME Volume = {
	.FreeLock = KSPIN_LOCK_INITIALIZER,
	.QueueLock = KSPIN_LOCK_INITIALIZER,
	.CacheLock = EX_SPIN_LOCK_INITIALIZER,
};

/* Requests: LIST_ENTRY; an ordinary spin lock for the free list, a queued one for the queue. */

_IRQL_requires_max_(DISPATCH_LEVEL)
_Ret_maybenull_
_Must_inspect_result_
static PREQUEST FASTCALL AllocateRequest(_Inout_ PVOLUME Vcb)
{
	PREQUEST Request = NULL;
	KIRQL OldIrql;

	KeAcquireSpinLock(&Vcb->FreeLock, &OldIrql);
	if (!IsListEmpty(&Vcb->FreeList)) {
		PLIST_ENTRY Entry = RemoveHeadList(&Vcb->FreeList);

		Request = CONTAINING_RECORD(Entry, REQUEST, ListEntry);
		NT_ASSERT(Request->State == RequestFree);
	}
	KeReleaseSpinLock(&Vcb->FreeLock, OldIrql);
	return Request;
}

_Requires_lock_held_(Vcb->QueueLock)
_IRQL_requires_(DISPATCH_LEVEL)
static VOID InsertRequestLocked(_Inout_ PVOLUME Vcb, _In_ __drv_aliasesMem PREQUEST Request)
{
	ASSERT(KeGetCurrentIrql() == DISPATCH_LEVEL);
	ASSERT(!KeTestSpinLock(&Vcb->QueueLock));
	Request->State = RequestPending;
	InsertTailList(&Vcb->PendingList, &Request->ListEntry);
	Vcb->Pending += 1;
}

_IRQL_requires_max_(DISPATCH_LEVEL)
static VOID QueueRequest(_Inout_ PVOLUME Vcb, _In_ PREQUEST Request)
{
	KLOCK_QUEUE_HANDLE LockHandle;

	KeAcquireInStackQueuedSpinLock(&Vcb->QueueLock, &LockHandle);
	InsertRequestLocked(Vcb, Request);
	KeReleaseInStackQueuedSpinLock(&LockHandle);
}

_IRQL_requires_max_(DISPATCH_LEVEL)
_When_(return == STATUS_NO_MORE_ENTRIES, _At_(*Request, _Post_satisfies_(*Request == NULL)))
static NTSTATUS DequeueRequest(_Inout_ PVOLUME Vcb, _Outptr_result_maybenull_ PREQUEST *Request)
{
	NTSTATUS Status = STATUS_NO_MORE_ENTRIES;
	KLOCK_QUEUE_HANDLE LockHandle;

	*Request = NULL;
	KeAcquireInStackQueuedSpinLock(&Vcb->QueueLock, &LockHandle);
	if (!IsListEmpty(&Vcb->PendingList)) {
		*Request = CONTAINING_RECORD(RemoveHeadList(&Vcb->PendingList), REQUEST,
					     ListEntry);
		Vcb->Pending -= 1;
		Status = STATUS_SUCCESS;
	}
	KeReleaseInStackQueuedSpinLock(&LockHandle);
	return Status;
}

_IRQL_requires_max_(DISPATCH_LEVEL)
static VOID FreeRequest(_Inout_ PVOLUME Vcb, _In_ _Post_invalid_ PREQUEST Request)
{
	KIRQL OldIrql;

	KeAcquireSpinLock(&Vcb->FreeLock, &OldIrql);
	Request->State = RequestFree;
	InsertHeadList(&Vcb->FreeList, &Request->ListEntry);
	KeReleaseSpinLock(&Vcb->FreeLock, OldIrql);
}

/* The cache: EX_SPIN_LOCK, shared for readers, exclusive for changes. */

_IRQL_requires_max_(DISPATCH_LEVEL)
_Success_(return != FALSE)
static BOOLEAN LookUpBlock(_In_ PVOLUME Vcb, _In_ ULONGLONG Block)
{
	ULONG Slot = (ULONG)(Block % BLOCKS_IN_CACHE);
	BOOLEAN Found = TRUE;
	KIRQL OldIrql;

	OldIrql = ExAcquireSpinLockShared(&Vcb->CacheLock);
	if (Vcb->Cache[Slot] == Block) {
		ExReleaseSpinLockShared(&Vcb->CacheLock, OldIrql);
		return TRUE;
	}
	if (!ExTryConvertSharedSpinLockExclusive(&Vcb->CacheLock)) {
		ExReleaseSpinLockSharedFromDpcLevel(&Vcb->CacheLock);
		ExAcquireSpinLockExclusiveAtDpcLevel(&Vcb->CacheLock);
	}
	if (Vcb->Cache[Slot] != Block) {
		Vcb->Cache[Slot] = Block;
		Found = FALSE;
	}
	ExReleaseSpinLockExclusive(&Vcb->CacheLock, OldIrql);
	return Found;
}

/* Files: ERESOURCE, acquired in critical regions as in file systems. */

_IRQL_requires_max_(APC_LEVEL)
_When_(Wait, _Post_satisfies_(return != FALSE))
_When_(return != FALSE, _Acquires_exclusive_lock_(Fcb->MainResource))
_Acquires_lock_(_Global_critical_region_)
_Must_inspect_result_
static BOOLEAN AcquireFcbExclusive(_Inout_ PFCB Fcb, _In_ BOOLEAN Wait)
{
	PAGED_CODE();

	KeEnterCriticalRegion();
	if (!ExAcquireResourceExclusiveLite(&Fcb->MainResource, Wait)) {
		KeLeaveCriticalRegion();
		return FALSE;
	}
	ASSERT(ExIsResourceAcquiredExclusiveLite(&Fcb->MainResource));
	ASSERT(ExGetResourceFlag(&Fcb->MainResource) & ResourceOwnedExclusive);
	ASSERT(ExGetResourceActiveCount(&Fcb->MainResource) == 1);
	return TRUE;
}

_IRQL_requires_max_(DISPATCH_LEVEL)
_Requires_lock_held_(_Global_critical_region_)
_Releases_lock_(_Global_critical_region_)
_Releases_lock_(Fcb->MainResource)
static VOID ReleaseFcb(_Inout_ PFCB Fcb)
{
	ASSERT(KeAreApcsDisabled());
	ExReleaseResourceLite(&Fcb->MainResource);
	KeLeaveCriticalRegion();
}

_Requires_exclusive_lock_held_(Fcb->MainResource)
static VOID ExtendFile(_Inout_ PFCB Fcb, _In_ const LARGE_INTEGER *NewSize)
{
	PAGED_CODE();

	ASSERTMSG("to change its size, own the file",
		  ExIsResourceAcquiredExclusiveLite(&Fcb->MainResource));
	/* Paging I/O acquires this resource without MainResource. */
	(VOID)ExAcquireResourceExclusiveLite(&Fcb->PagingIoResource, TRUE);
	if (Fcb->FileSize.QuadPart < NewSize->QuadPart)
		Fcb->FileSize = *NewSize;
	ExReleaseResourceLite(&Fcb->PagingIoResource);
}

_Use_decl_annotations_
static NTSTATUS NTAPI WriteFile(PVOLUME Vcb, PREQUEST Request)
{
	PFCB Fcb = &Vcb->Files[Request->File];
	LARGE_INTEGER End;

	PAGED_CODE();

	End.QuadPart = Request->Offset.QuadPart + Request->Length;
	if (End.HighPart)
		return STATUS_NOT_SUPPORTED;
	if (!AcquireFcbExclusive(Fcb, FALSE) && !AcquireFcbExclusive(Fcb, TRUE))
		return STATUS_CANT_WAIT;
	ExtendFile(Fcb, &End);
	Fcb->Writes += 1;
	ExConvertExclusiveToSharedLite(&Fcb->MainResource);
	LookUpBlock(Vcb, End.LowPart / 0x1000);
	ReleaseFcb(Fcb);
	return STATUS_SUCCESS;
}

_Use_decl_annotations_
static NTSTATUS NTAPI ReadFile(PVOLUME Vcb, PREQUEST Request)
{
	PFCB Fcb = &Vcb->Files[Request->File];
	NTSTATUS Status = STATUS_SUCCESS;

	UNREFERENCED_PARAMETER(Vcb);
	PAGED_CODE();

	ExEnterCriticalRegionAndAcquireResourceShared(&Fcb->MainResource);
	/* A recursive acquisition, as a cache manager makes it. */
	if (!ExAcquireSharedStarveExclusive(&Fcb->MainResource, FALSE))
		Status = STATUS_INTERNAL_ERROR;
	else
		ExReleaseResourceLite(&Fcb->MainResource);
	if (Request->Offset.QuadPart > Fcb->FileSize.QuadPart)
		LookUpBlock(Vcb, 0);
	ExReleaseResourceAndLeaveCriticalRegion(&Fcb->MainResource);
	return Status;
}

static const PREQUEST_ROUTINE Routines[] = { ReadFile, WriteFile };

_IRQL_requires_(PASSIVE_LEVEL)
NTSTATUS NtMountVolume(VOID)
{
	PVOLUME Vcb = &Volume;
	NTSTATUS Status;
	ULONG i;

	PAGED_CODE();

	if (Vcb->Owner)
		return STATUS_DEVICE_BUSY;
	Vcb->Name = "volume";
	Vcb->Owner = (HANDLE)ExGetCurrentResourceThread();
	InitializeListHead(&Vcb->PendingList);
	InitializeListHead(&Vcb->FreeList);
	for (i = 0; i < REQUESTS_PER_VOLUME; i++)
		FreeRequest(Vcb, &Vcb->Requests[i]);
	for (i = 0; i < FILES_PER_VOLUME; i++) {
		Status = ExInitializeResourceLite(&Vcb->Files[i].MainResource);
		if (!NT_SUCCESS(Status))
			return Status;
		Status = ExInitializeResourceLite(&Vcb->Files[i].PagingIoResource);
		if (!NT_SUCCESS(Status))
			return Status;
	}
	return STATUS_SUCCESS;
}

_IRQL_requires_max_(APC_LEVEL)
BOOLEAN NtVolumeIsIdle(VOID)
{
	PVOLUME Vcb = &Volume;
	ULONG i;

	PAGED_CODE();

	for (i = 0; i < FILES_PER_VOLUME; i++) {
		PERESOURCE Resource = &Vcb->Files[i].MainResource;

		if (Vcb->Owner && (ExGetResourceActiveCount(Resource) ||
				   Resource->NumberOfSharedWaiters ||
				   Resource->NumberOfExclusiveWaiters))
			return FALSE;
	}
	return !Vcb->Pending;
}

_IRQL_requires_(PASSIVE_LEVEL)
NTSTATUS NtDismountVolume(VOID)
{
	PVOLUME Vcb = &Volume;
	NTSTATUS Status;
	ULONG i, Free = 0;

	PAGED_CODE();

	while (!IsListEmpty(&Vcb->FreeList)) {
		RemoveTailList(&Vcb->FreeList);
		Free += 1;
	}
	if (Free != REQUESTS_PER_VOLUME)
		return STATUS_UNSUCCESSFUL;
	for (i = 0; i < FILES_PER_VOLUME; i++) {
		Status = ExDeleteResourceLite(&Vcb->Files[i].PagingIoResource);
		if (!NT_SUCCESS(Status))
			return Status;
		Status = ExDeleteResourceLite(&Vcb->Files[i].MainResource);
		if (!NT_SUCCESS(Status))
			return Status;
	}
	Vcb->Owner = NULL;
	return STATUS_SUCCESS;
}

_IRQL_requires_(PASSIVE_LEVEL)
NTSTATUS NtUseVolume(ULONG Seed)
{
	PVOLUME Vcb = &Volume;
	PREQUEST Request;
	NTSTATUS Status;
	ULONG Round;

	PAGED_CODE();

	for (Round = 0; Round < ROUNDS; Round++) {
		Request = AllocateRequest(Vcb);
		if (Request) {
			Seed = Seed * 1103515245 + 12345;
			Request->File = (Seed >> 16) % FILES_PER_VOLUME;
			Request->Offset.QuadPart = (Seed >> 8) % 0x100000;
			Request->Length = Seed % 0x1000;
			QueueRequest(Vcb, Request);
		}
		while (NT_SUCCESS(DequeueRequest(Vcb, &Request))) {
			NT_ASSERT(Request->State == RequestPending);
			Status = Routines[Request->Length & 1](Vcb, Request);
			Request->State = RequestDone;
			FreeRequest(Vcb, Request);
			if (!NT_SUCCESS(Status))
				return Status;
		}
	}
	return STATUS_SUCCESS;
}
