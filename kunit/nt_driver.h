/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_NT_DRIVER_H
#define _NTKLOG_KUNIT_NT_DRIVER_H

#include <ntklog/nt.h>

NTSTATUS NtTestIrql(VOID);
NTSTATUS NtTestSpinLock(VOID);
NTSTATUS NtTestInStackQueuedSpinLock(VOID);
NTSTATUS NtTestQueuedSpinLock(VOID);
NTSTATUS NtTestExSpinLock(VOID);
NTSTATUS NtTestCriticalRegion(VOID);
NTSTATUS NtTestGuardedRegion(VOID);
NTSTATUS NtTestResource(VOID);
NTSTATUS NtTestResourceState(VOID);
NTSTATUS NtTestResourceOwnerPointer(VOID);

/* nt_volume.c */
NTSTATUS NtMountVolume(VOID);
NTSTATUS NtDismountVolume(VOID);
NTSTATUS NtUseVolume(ULONG Seed);
BOOLEAN NtVolumeIsIdle(VOID);

#endif /* _NTKLOG_KUNIT_NT_DRIVER_H */
