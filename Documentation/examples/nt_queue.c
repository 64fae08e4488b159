// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver of NT's, ported: requests are queued by threads and served by a DPC; a setting is
 * read by many threads and changed by few. Documentation/nt/porting.rst shows it as it was on NT,
 * line by line.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <ntklog/nt.h>

typedef struct _REQUEST {
	LIST_ENTRY ListEntry;
	ULONG Length;
} REQUEST, *PREQUEST;

typedef struct _DEVICE_EXTENSION {
	KSPIN_LOCK QueueLock;
	LIST_ENTRY Queue;
	ULONGLONG Served;
	ERESOURCE SettingsResource;
	ULONG MaximumLength;
	/* One thread changes settings at a time, and counts it in Changes. */
	struct mutex ChangeMutex;
	ULONG Changes;
	atomic_t Outstanding;
	struct completion AllServed;
	struct tasklet_struct Dpc;
} DEVICE_EXTENSION, *PDEVICE_EXTENSION;

static DEVICE_EXTENSION Device;

_IRQL_requires_max_(APC_LEVEL)
static VOID SetMaximumLength(_Inout_ PDEVICE_EXTENSION Extension, _In_ ULONG MaximumLength)
{
	PAGED_CODE();
	mutex_lock(&Extension->ChangeMutex);
	Extension->Changes += 1;
	ExEnterCriticalRegionAndAcquireResourceExclusive(&Extension->SettingsResource);
	Extension->MaximumLength = MaximumLength;
	ExReleaseResourceAndLeaveCriticalRegion(&Extension->SettingsResource);
	mutex_unlock(&Extension->ChangeMutex);
}

_IRQL_requires_max_(DISPATCH_LEVEL)
static VOID RequestIsDone(_Inout_ PDEVICE_EXTENSION Extension)
{
	if (atomic_dec_and_test(&Extension->Outstanding))
		complete(&Extension->AllServed);
}

_IRQL_requires_max_(APC_LEVEL)
static NTSTATUS QueueRequest(_Inout_ PDEVICE_EXTENSION Extension, _In_ ULONG Length)
{
	KLOCK_QUEUE_HANDLE LockHandle;
	PREQUEST Request;
	BOOLEAN Fits;

	PAGED_CODE();
	ExEnterCriticalRegionAndAcquireResourceShared(&Extension->SettingsResource);
	Fits = Length <= Extension->MaximumLength;
	ExReleaseResourceAndLeaveCriticalRegion(&Extension->SettingsResource);
	if (!Fits)
		return STATUS_INVALID_PARAMETER;

	Request = kzalloc(sizeof(*Request), GFP_KERNEL);
	if (!Request)
		return STATUS_INSUFFICIENT_RESOURCES;
	Request->Length = Length;

	atomic_inc(&Extension->Outstanding);
	KeAcquireInStackQueuedSpinLock(&Extension->QueueLock, &LockHandle);
	InsertTailList(&Extension->Queue, &Request->ListEntry);
	KeReleaseInStackQueuedSpinLock(&LockHandle);
	tasklet_schedule(&Extension->Dpc);
	return STATUS_SUCCESS;
}

/* A softirq is at DISPATCH_LEVEL, with PREEMPT_RT only after raising: ...ForDpc is for both. */
static void RequestDpc(struct tasklet_struct *Dpc)
{
	PDEVICE_EXTENSION Extension = CONTAINING_RECORD(Dpc, DEVICE_EXTENSION, Dpc);
	KLOCK_QUEUE_HANDLE LockHandle;
	PREQUEST Request;

	for (;;) {
		Request = NULL;
		KeAcquireInStackQueuedSpinLockForDpc(&Extension->QueueLock, &LockHandle);
		if (!IsListEmpty(&Extension->Queue)) {
			Request = CONTAINING_RECORD(RemoveHeadList(&Extension->Queue), REQUEST,
						    ListEntry);
			Extension->Served += Request->Length;
		}
		KeReleaseInStackQueuedSpinLockForDpc(&LockHandle);
		if (!Request)
			return;
		kfree(Request);
		RequestIsDone(Extension);
	}
}

static void Unload(void)
{
	/* The one that DriverEntry() began with. */
	RequestIsDone(&Device);
	wait_for_completion(&Device.AllServed);
	tasklet_kill(&Device.Dpc);
	ExDeleteResourceLite(&Device.SettingsResource);
	pr_info("%llu bytes served\n", Device.Served);
}

static int __init DriverEntry(void)
{
	NTSTATUS Status;
	ULONG Length;

	KeInitializeSpinLock(&Device.QueueLock);
	InitializeListHead(&Device.Queue);
	mutex_init(&Device.ChangeMutex);
	init_completion(&Device.AllServed);
	atomic_set(&Device.Outstanding, 1);
	tasklet_setup(&Device.Dpc, RequestDpc);
	Status = ExInitializeResourceLite(&Device.SettingsResource);
	if (!NT_SUCCESS(Status))
		return -EINVAL;

	SetMaximumLength(&Device, 63);
	for (Length = 0; Length < 100; Length++) {
		Status = QueueRequest(&Device, Length);
		if (Status == STATUS_INSUFFICIENT_RESOURCES) {
			Unload();
			return -ENOMEM;
		}
	}
	return 0;
}

module_init(DriverEntry);
module_exit(Unload);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Example of a driver ported from NT");
MODULE_LICENSE("GPL");
