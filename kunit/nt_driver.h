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
NTSTATUS NtTestResource(VOID);
NTSTATUS NtTestResourceOwnerPointer(VOID);

#endif /* _NTKLOG_KUNIT_NT_DRIVER_H */
