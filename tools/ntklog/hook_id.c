// SPDX-License-Identifier: GPL-2.0-only
/* Names of the kernel's events, by the hook ids of NT's public headers. */

#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

#include "hook_id.h"
#include "macros.h"

/* In the order of the ids. */
static const struct hook {
	uint16_t id;
	const char *name;
} hooks[] = {
	{ 0x0000, "LogFileHeader" },
	{ 0x0005, "GroupMask" },
	{ 0x0008, "RundownComplete" },
	{ 0x0020, "GroupMaskOld" },
	{ 0x0050, "HeaderExtension" },
	{ 0x0301, "ProcessStart" },
	{ 0x0302, "ProcessEnd" },
	{ 0x0303, "ProcessDCStart" },
	{ 0x0304, "ProcessDCEnd" },
	{ 0x030A, "ImageLoad" },
	{ 0x030B, "ProcessTerminate" },
	{ 0x0320, "ProcessPerfCtrEnd" },
	{ 0x0321, "ProcessPerfCtrRundown" },
	{ 0x0323, "ProcessInSwap" },
	{ 0x0324, "ProcessFreeze" },
	{ 0x0325, "ProcessThaw" },
	{ 0x0326, "BootPhaseStart" },
	{ 0x0327, "ProcessZombie" },
	{ 0x0328, "ProcessSetAffinity" },
	{ 0x0501, "ThreadStart" },
	{ 0x0502, "ThreadEnd" },
	{ 0x0503, "ThreadDCStart" },
	{ 0x0504, "ThreadDCEnd" },
	{ 0x0524, "ContextSwap" },
	{ 0x0525, "ContextSwapBatch" },
	{ 0x0529, "SpinLock" },
	{ 0x052A, "Queue" },
	{ 0x052B, "Resource" },
	{ 0x052C, "PushLock" },
	{ 0x052D, "WaitSingle" },
	{ 0x052E, "WaitMultiple" },
	{ 0x052F, "DelayExecution" },
	{ 0x0530, "ThreadSetPriority" },
	{ 0x0531, "ThreadSetBasePriority" },
	{ 0x0532, "ReadyThread" },
	{ 0x0533, "ThreadSetPagePriority" },
	{ 0x0534, "ThreadSetIoPriority" },
	{ 0x0535, "ThreadSetAffinity" },
	{ 0x0539, "WorkerThreadItem" },
	{ 0x053A, "DfssStartNewInterval" },
	{ 0x053B, "DfssProcessIdleOnlyQueue" },
	{ 0x053C, "AntiStarvationBoost" },
	{ 0x053D, "ThreadMigration" },
	{ 0x053E, "KQueueEnqueue" },
	{ 0x053F, "KQueueDequeue" },
	{ 0x0540, "WorkerThreadItemStart" },
	{ 0x0541, "WorkerThreadItemEnd" },
	{ 0x0542, "AutoBoostSetFloor" },
	{ 0x0543, "AutoBoostClearFloor" },
	{ 0x0544, "AutoBoostNoEntries" },
	{ 0x0545, "ThreadSubProcessTagChanged" },
	{ 0x0720, "JobCreate" },
	{ 0x0721, "JobTerminate" },
	{ 0x0722, "JobOpen" },
	{ 0x0723, "JobAssignProcess" },
	{ 0x0724, "JobRemoveProcess" },
	{ 0x0725, "JobSet" },
	{ 0x0726, "JobQuery" },
	{ 0x0F4B, "SpinLockDCStart" },
	{ 0x0F4C, "SpinLockDCEnd" },
	{ 0x0F4D, "ResourceDCStart" },
	{ 0x0F4E, "ResourceDCEnd" },
	{ 0x1401, "ImageStart" },
	{ 0x1402, "ImageUnload" },
	{ 0x1403, "ImageDCStart" },
	{ 0x1404, "ImageDCEnd" },
	{ 0x140A, "ImageLoad" },
	{ 0x1420, "ImageRelocation" },
	{ 0x1421, "ImageKernelBase" },
	{ 0x1422, "ImageHypercallPage" },
	{ 0x1820, "StackWalk" },
	{ 0x1822, "StackWalkKeyCreate" },
	{ 0x1823, "StackWalkKeyDelete" },
	{ 0x1824, "StackWalkKeyRundown" },
	{ 0x1825, "StackWalkKeyKernel" },
	{ 0x1826, "StackWalkKeyUser" },
};

static int compare_hooks(const void *a, const void *b)
{
	const struct hook *left = a, *right = b;

	return (int)left->id - (int)right->id;
}

/**
 * hook_name() - what is this event called?
 * @hook_id: of it
 *
 * Return: the name, or NULL.
 */
const char *hook_name(uint16_t hook_id)
{
	const struct hook key = { .id = hook_id }, *found;

	found = bsearch(&key, hooks, ARRAY_SIZE(hooks), sizeof(*hooks), compare_hooks);
	return found ? found->name : NULL;
}

/**
 * hook_name_exists() - is any event called so?
 * @name: in whatever case
 *
 * Return: whether one is.
 */
bool hook_name_exists(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcasecmp(hooks[i].name, name))
			return true;
	return false;
}
