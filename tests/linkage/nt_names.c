// SPDX-License-Identifier: GPL-2.0-only
/* Names in the places where NT code may have them. A wrong one does not compile. */

#include <ntklog/nt.h>

#define IS_INTEGER(Type, Size, IsSigned) \
	static_assert(sizeof(Type) == (Size) && ((Type)-1 < (Type)1) == (IsSigned))
#define IS_POINTER(Pointer, Type) \
	static_assert(__builtin_types_compatible_p(Pointer, Type *))

IS_INTEGER(CHAR, 1, 1);
IS_INTEGER(CCHAR, 1, 1);
IS_INTEGER(UCHAR, 1, 0);
IS_INTEGER(WCHAR, 2, 0);
IS_INTEGER(SHORT, 2, 1);
IS_INTEGER(CSHORT, 2, 1);
IS_INTEGER(USHORT, 2, 0);
IS_INTEGER(INT, 4, 1);
IS_INTEGER(UINT, 4, 0);
IS_INTEGER(LONG, 4, 1);
IS_INTEGER(CLONG, 4, 1);
IS_INTEGER(ULONG, 4, 0);
IS_INTEGER(LONGLONG, 8, 1);
IS_INTEGER(ULONGLONG, 8, 0);
IS_INTEGER(INT8, 1, 1);
IS_INTEGER(INT16, 2, 1);
IS_INTEGER(INT32, 4, 1);
IS_INTEGER(INT64, 8, 1);
IS_INTEGER(LONG32, 4, 1);
IS_INTEGER(LONG64, 8, 1);
IS_INTEGER(UINT8, 1, 0);
IS_INTEGER(UINT16, 2, 0);
IS_INTEGER(UINT32, 4, 0);
IS_INTEGER(UINT64, 8, 0);
IS_INTEGER(ULONG32, 4, 0);
IS_INTEGER(ULONG64, 8, 0);
IS_INTEGER(LONG_PTR, sizeof(void *), 1);
IS_INTEGER(INT_PTR, sizeof(void *), 1);
IS_INTEGER(SSIZE_T, sizeof(void *), 1);
IS_INTEGER(ULONG_PTR, sizeof(void *), 0);
IS_INTEGER(UINT_PTR, sizeof(void *), 0);
IS_INTEGER(SIZE_T, sizeof(void *), 0);
IS_INTEGER(KAFFINITY, sizeof(void *), 0);
IS_INTEGER(ERESOURCE_THREAD, sizeof(void *), 0);
IS_INTEGER(KPRIORITY, 4, 1);
IS_INTEGER(NTSTATUS, 4, 1);
IS_INTEGER(BOOLEAN, 1, 0);
IS_INTEGER(LOGICAL, 4, 0);
IS_INTEGER(KIRQL, 1, 0);

IS_POINTER(PVOID, VOID);
IS_POINTER(PPVOID, PVOID);
IS_POINTER(PCVOID, CONST VOID);
IS_POINTER(HANDLE, VOID);
IS_POINTER(PHANDLE, HANDLE);
IS_POINTER(PCHAR, CHAR);
IS_POINTER(PSTR, char);
IS_POINTER(PCSTR, CONST char);
IS_POINTER(PCCHAR, CONST CHAR);
IS_POINTER(PWCHAR, WCHAR);
IS_POINTER(PWSTR, WCHAR);
IS_POINTER(PCWSTR, CONST WCHAR);
IS_POINTER(PCWCHAR, CONST WCHAR);
IS_POINTER(PUCHAR, UCHAR);
IS_POINTER(PCUCHAR, CONST UCHAR);
IS_POINTER(PSHORT, SHORT);
IS_POINTER(PUSHORT, USHORT);
IS_POINTER(PINT, INT);
IS_POINTER(PUINT, UINT);
IS_POINTER(PLONG, LONG);
IS_POINTER(PULONG, ULONG);
IS_POINTER(PLONGLONG, LONGLONG);
IS_POINTER(PULONGLONG, ULONGLONG);
IS_POINTER(PINT8, INT8);
IS_POINTER(PINT16, INT16);
IS_POINTER(PINT32, INT32);
IS_POINTER(PINT64, INT64);
IS_POINTER(PLONG32, LONG32);
IS_POINTER(PLONG64, LONG64);
IS_POINTER(PUINT8, UINT8);
IS_POINTER(PUINT16, UINT16);
IS_POINTER(PUINT32, UINT32);
IS_POINTER(PUINT64, UINT64);
IS_POINTER(PULONG32, ULONG32);
IS_POINTER(PULONG64, ULONG64);
IS_POINTER(PLONG_PTR, LONG_PTR);
IS_POINTER(PINT_PTR, INT_PTR);
IS_POINTER(PULONG_PTR, ULONG_PTR);
IS_POINTER(PUINT_PTR, UINT_PTR);
IS_POINTER(PSIZE_T, SIZE_T);
IS_POINTER(PSSIZE_T, SSIZE_T);
IS_POINTER(PKAFFINITY, KAFFINITY);
IS_POINTER(PBOOLEAN, BOOLEAN);
IS_POINTER(PLOGICAL, LOGICAL);
IS_POINTER(PNTSTATUS, NTSTATUS);
IS_POINTER(PKIRQL, KIRQL);
IS_POINTER(PLARGE_INTEGER, LARGE_INTEGER);
IS_POINTER(PULARGE_INTEGER, ULARGE_INTEGER);
IS_POINTER(PLIST_ENTRY, LIST_ENTRY);
IS_POINTER(PSINGLE_LIST_ENTRY, SINGLE_LIST_ENTRY);
IS_POINTER(PKSPIN_LOCK, KSPIN_LOCK);
IS_POINTER(PEX_SPIN_LOCK, EX_SPIN_LOCK);
IS_POINTER(PKSPIN_LOCK_QUEUE, KSPIN_LOCK_QUEUE);
IS_POINTER(PKLOCK_QUEUE_HANDLE, KLOCK_QUEUE_HANDLE);
IS_POINTER(PKSPIN_LOCK_QUEUE_NUMBER, KSPIN_LOCK_QUEUE_NUMBER);
IS_POINTER(PERESOURCE, ERESOURCE);
IS_POINTER(PERESOURCE_THREAD, ERESOURCE_THREAD);

static_assert(LOW_LEVEL == PASSIVE_LEVEL && CMCI_LEVEL == 5 && CLOCK_LEVEL == 13 &&
	      IPI_LEVEL == 14 && DRS_LEVEL == 14 && POWER_LEVEL == 14 &&
	      PROFILE_LEVEL == 15 && HIGH_LEVEL == 15);
static_assert(LockQueueUnusedSpare0 == 0 && LockQueueUnusedSpare1 == 1 &&
	      LockQueueUnusedSpare2 == 2 && LockQueueUnusedSpare3 == 3 &&
	      LockQueueVacbLock == 4 && LockQueueMasterLock == 5 &&
	      LockQueueNonPagedPoolLock == 6 && LockQueueIoCancelLock == 7 &&
	      LockQueueUnusedSpare8 == 8 && LockQueueIoVpbLock == 9 &&
	      LockQueueIoDatabaseLock == 10 && LockQueueIoCompletionLock == 11 &&
	      LockQueueNtfsStructLock == 12 && LockQueueAfdWorkQueueLock == 13 &&
	      LockQueueBcbLock == 14 && LockQueueUnusedSpare15 == 15 &&
	      LockQueueUnusedSpare16 == 16 && LockQueueMaximumLock == 17);
static_assert(LockQueueDispatcherLock == 0 && LockQueueExpansionLock == 1 &&
	      LockQueuePfnLock == 2 && LockQueueSystemSpaceLock == 3 &&
	      LockQueueWorkQueueLock == 8 && LockQueueMmNonPagedPoolLock == 15);
static_assert((int)LockQueueVacbLock == LOCK_QUEUE_VACB_LOCK &&
	      (int)LockQueueMmNonPagedPoolLock == LOCK_QUEUE_MM_NON_PAGED_POOL_LOCK);
static_assert(ResourceHasDisabledPriorityBoost == 0x08 && ResourceNeverExclusive == 0x10 &&
	      ResourceReleaseByOtherThread == 0x20 && ResourceOwnedExclusive == 0x80);
static_assert(NT_SUCCESS(STATUS_SUCCESS) && NT_SUCCESS(STATUS_WAIT_0) &&
	      NT_SUCCESS(STATUS_ABANDONED) && NT_SUCCESS(STATUS_USER_APC) &&
	      NT_SUCCESS(STATUS_ALERTED) && NT_SUCCESS(STATUS_TIMEOUT) &&
	      NT_SUCCESS(STATUS_PENDING) && !NT_SUCCESS(STATUS_UNSUCCESSFUL));
static_assert(NT_INFORMATION(0x40000000u) && NT_WARNING(STATUS_DEVICE_BUSY) &&
	      NT_ERROR(STATUS_INTERNAL_ERROR) && !NT_ERROR(STATUS_DEVICE_BUSY));
/* NTSTATUS values of errors are negative as in NT, also when they are widened to 64 bits. */
static_assert(STATUS_ACCESS_VIOLATION < 0 && (LONGLONG)STATUS_NOT_IMPLEMENTED < 0 &&
	      STATUS_INVALID_INFO_CLASS < 0 && STATUS_INFO_LENGTH_MISMATCH < 0 &&
	      STATUS_INVALID_PARAMETER < 0 && STATUS_NO_MEMORY < 0 && STATUS_ACCESS_DENIED < 0);
static_assert(TRUE == 1 && FALSE == 0);

/* Status values can be labels of a switch. */
NTKERNELAPI PCSTR NTAPI LinkageNameStatus(NTSTATUS Status);

PCSTR NTAPI LinkageNameStatus(NTSTATUS Status)
{
	switch (Status) {
	case STATUS_NO_MORE_ENTRIES:
		return "no more entries";
	case STATUS_ACCESS_VIOLATION:
	case STATUS_INVALID_HANDLE:
		return "access violation or invalid handle";
	case STATUS_INVALID_DEVICE_REQUEST:
	case STATUS_DEVICE_NOT_READY:
	case STATUS_INVALID_DEVICE_STATE:
		return "device";
	case STATUS_BUFFER_TOO_SMALL:
	case STATUS_INSUFFICIENT_RESOURCES:
		return "too small";
	case STATUS_OBJECT_NAME_NOT_FOUND:
	case STATUS_NOT_FOUND:
		return "not found";
	case STATUS_MUTANT_NOT_OWNED:
	case STATUS_RESOURCE_NOT_OWNED:
		return "not owned";
	case STATUS_NOT_SUPPORTED:
	case STATUS_CANT_WAIT:
	case STATUS_CANCELLED:
		return "not done";
	default:
		return NULL;
	}
}

NTSYSAPI ULONG NTAPI LinkageUseVariables(ULONG Parameter, ULONG Other);

ULONG NTAPI LinkageUseVariables(ULONG Parameter, ULONG Other)
{
	LARGE_INTEGER Signed = { .QuadPart = -2 };
	ULARGE_INTEGER Unsigned = { .u = { .LowPart = 1, .HighPart = 2 } };
	SINGLE_LIST_ENTRY Single = { NULL };
	ULONG Local;

	UNREFERENCED_PARAMETER(Parameter);
	DBG_UNREFERENCED_PARAMETER(Other);
	DBG_UNREFERENCED_LOCAL_VARIABLE(Local);
	/* Without DBG only NT_VERIFY() of these four evaluates its argument. */
	ASSERT(Parameter++);
	ASSERTMSG("unevaluated", Parameter++);
	NT_ASSERT(Parameter++);
	NT_VERIFY(Parameter++);
	_Analysis_assume_(Signed.HighPart == -1);
	__analysis_assume(Unsigned.HighPart == 2);
	_Analysis_assume_lock_acquired_(Single);
	_Analysis_assume_lock_held_(Single);
	_Analysis_assume_lock_not_held_(Single);
	_Analysis_assume_lock_released_(Single);
	_Analysis_assume_same_lock_(Single, Single);
	_Analysis_suppress_lock_checking_(Single);
	return Parameter + Signed.LowPart + (ULONG)Unsigned.QuadPart + !Single.Next;
}

_Analysis_mode_(_Analysis_code_type_kernel_driver_)
_Create_lock_level_(LinkageQueueLevel)
_Create_lock_level_(LinkageTableLevel)
_Lock_level_order_(LinkageQueueLevel, LinkageTableLevel)

typedef _Enum_is_bitflag_ enum _LINKAGE_FLAGS {
	LinkageNone,
} LINKAGE_FLAGS;

typedef _Struct_size_bytes_(Size) struct _LINKAGE_ANNOTATED {
	_Has_lock_level_(LinkageQueueLevel) _Has_lock_kind_(_Lock_kind_spin_lock_)
	KSPIN_LOCK Lock;
	_Guarded_by_(Lock) _Field_range_(0, 8) ULONG Size;
	_Write_guarded_by_(Lock) _Field_size_(Size) _Null_terminated_ PCHAR Name;
	_Field_size_opt_(Size) _Field_size_bytes_(Size) _Field_size_bytes_opt_(Size) PVOID Data;
	_Interlocked_ LONG Count;
} LINKAGE_ANNOTATED;

VOID FASTCALL LinkageOldStyle(IN PVOID In, OUT PVOID Out, IN OUT PVOID Both OPTIONAL);

VOID LinkageArguments(_In_ _Notnull_ _Const_ PCVOID In, _In_opt_ _Maybenull_ PVOID InOpt,
		      _Out_ _Pre_notnull_ _Post_valid_ PVOID Out,
		      _Out_opt_ _Pre_maybenull_ _Post_ PVOID OutOpt,
		      _Inout_ _Pre_ _Pre_valid_ PVOID Inout, _Inout_opt_ _Unchanged_ PVOID InoutOpt,
		      _Outptr_ PPVOID Outptr, _Outptr_opt_ PPVOID OutptrOpt,
		      _Outptr_result_maybenull_ PPVOID MaybeNull,
		      _In_z_ _Printf_format_string_ PCSTR Format, _In_opt_z_ PCSTR Other,
		      _In_ _Literal_ ULONG Number, _In_ _Notliteral_ _Points_to_data_ PVOID Data,
		      _In_ _Post_invalid_ PVOID Freed,
		      _Reserved_ _Null_ PVOID Reserved, _Interlocked_operand_ PLONG Operand,
		      _Strict_type_match_() LINKAGE_FLAGS Flags);
VOID LinkageSizes(_In_range_(1, 8) ULONG Size, _Out_range_(0, 8) PULONG OutSize,
		  _In_reads_(Size) PVOID A, _In_reads_opt_(Size) PVOID B,
		  _In_reads_bytes_(Size) PVOID C, _In_reads_bytes_opt_(Size) PVOID D,
		  _Out_writes_(Size) PVOID E, _Out_writes_opt_(Size) PVOID F,
		  _Out_writes_z_(Size) PSTR G, _Out_writes_to_(Size, *OutSize) PVOID H,
		  _Out_writes_bytes_(Size) PVOID I, _Out_writes_bytes_opt_(Size) PVOID J,
		  _Out_writes_bytes_to_(Size, *OutSize) PVOID K, _Inout_updates_(Size) PVOID L,
		  _Inout_updates_opt_(Size) PVOID M, _Inout_updates_bytes_(Size) PVOID N);

_Function_class_(LINKAGE_ROUTINE) _Called_from_function_class_(LINKAGE_OTHER)
_Dispatch_type_(IRP_MJ_READ) _Landmark_(Linkage)
_Success_(return >= 0) _Return_type_success_(return >= 0) _Ret_range_(<=, 0)
_Check_return_ _Must_inspect_result_
_At_(*Out, _Post_satisfies_(*Out == NULL)) _Pre_satisfies_(*Out != NULL)
_When_(return < 0, _On_failure_(_Group_(_Always_(_Out_))))
NTSTATUS LinkageConditions(_Out_ PPVOID Out);
_Ret_notnull_ _Use_decl_annotations_ PVOID LinkageNotNull(VOID);
_Ret_maybenull_ _Kernel_clear_do_init_(yes) PVOID LinkageMaybeNull(VOID);
DECLSPEC_NORETURN _Analysis_noreturn_ VOID LinkageNoReturn(VOID);

_IRQL_requires_(PASSIVE_LEVEL) _IRQL_requires_same_ VOID LinkageAtPassiveLevel(VOID);
_IRQL_requires_max_(APC_LEVEL) _IRQL_requires_min_(PASSIVE_LEVEL)
_IRQL_raises_(DISPATCH_LEVEL) _IRQL_saves_global_(OldIrql, Linkage)
_IRQL_always_function_max_(HIGH_LEVEL) _IRQL_always_function_min_(LOW_LEVEL)
NTHALAPI _IRQL_saves_ KIRQL LinkageRaise(VOID);
_IRQL_restores_global_(OldIrql, Linkage) _IRQL_uses_cancel_
VOID LinkageLower(_In_ _IRQL_restores_ _IRQL_is_cancel_ KIRQL Irql);

_Acquires_lock_(_Global_critical_region_) _Acquires_exclusive_lock_(*Lock)
_Acquires_nonreentrant_lock_(*Lock) _Acquires_shared_lock_(*Lock)
_Requires_lock_not_held_(*Lock) _Requires_no_locks_held_
_Kernel_acquires_resource_(LinkageResource) _Kernel_requires_resource_not_held_(LinkageResource)
_Kernel_float_saved_ _Kernel_float_used_ _Post_same_lock_(*Lock, *Lock)
VOID LinkageAcquire(_Inout_ PKSPIN_LOCK Lock);
_Releases_lock_(_Global_critical_region_) _Releases_exclusive_lock_(*Lock)
_Releases_nonreentrant_lock_(*Lock) _Releases_shared_lock_(*Lock)
_Requires_lock_held_(*Lock) _Requires_exclusive_lock_held_(*Lock)
_Requires_shared_lock_held_(*Lock) _Kernel_releases_resource_(LinkageResource)
_Kernel_requires_resource_held_(LinkageResource) _Kernel_float_restored_
_No_competing_thread_ _Function_ignore_lock_checking_(*Lock)
VOID LinkageRelease(_Inout_ PKSPIN_LOCK Lock);

__drv_maxIRQL(DISPATCH_LEVEL) __drv_minIRQL(PASSIVE_LEVEL) __drv_requiresIRQL(PASSIVE_LEVEL)
__drv_raisesIRQL(DISPATCH_LEVEL) __drv_setsIRQL(DISPATCH_LEVEL)
__drv_maxFunctionIRQL(HIGH_LEVEL) __drv_minFunctionIRQL(LOW_LEVEL)
__drv_savesIRQLGlobal(OldIrql, Linkage) __drv_restoresIRQLGlobal(OldIrql, Linkage)
__drv_acquiresResource(Kind) __drv_acquiresResourceGlobal(Kind, Lock)
__drv_acquiresExclusiveResource(Kind) __drv_acquiresExclusiveResourceGlobal(Kind, Lock)
__drv_neverHold(Kind) __drv_neverHoldGlobal(Kind, Lock) __drv_acquiresCriticalRegion
__drv_acquiresPriorityRegion __drv_acquiresCancelSpinLock __drv_neverHoldCriticalRegion
__drv_neverHoldPriorityRegion __drv_neverHoldCancelSpinLock __drv_sameIRQL
__drv_functionClass(LINKAGE_ROUTINE) __drv_dispatchType(IRP_MJ_READ) __drv_inTry
__drv_when(Lock, __drv_at(*Lock, __drv_ret(__drv_fun(__drv_valueIs(==0))))) __drv_clearDoInit
__drv_reportError("linkage") __drv_preferredFunction(LinkageAcquire, "newer")
__drv_savesIRQL KIRQL LinkageOlderAcquire(__drv_in(__drv_arg(Lock, _Notnull_)) PKSPIN_LOCK Lock);
__drv_releasesResource(Kind) __drv_releasesResourceGlobal(Kind, Lock)
__drv_releasesExclusiveResource(Kind) __drv_releasesExclusiveResourceGlobal(Kind, Lock)
__drv_mustHold(Kind) __drv_mustHoldGlobal(Kind, Lock) __drv_releasesCriticalRegion
__drv_releasesPriorityRegion __drv_releasesCancelSpinLock __drv_mustHoldCriticalRegion
__drv_mustHoldPriorityRegion __drv_mustHoldCancelSpinLock __drv_notInTry
VOID LinkageOlderRelease(__drv_out(_Notnull_) __drv_deref(_Notnull_) PKSPIN_LOCK Lock,
			 __drv_restoresIRQL __drv_useCancelIRQL __drv_isCancelIRQL KIRQL OldIrql,
			 __drv_in_deref(_Notnull_) __drv_out_deref(_Notnull_) PPVOID Pointer,
			 __drv_aliasesMem __drv_isObjectPointer PVOID Object,
			 __drv_allocatesMem(Mem) __drv_freesMem(Mem) PVOID Memory,
			 __drv_interlocked PLONG Count, __drv_constant ULONG Constant,
			 __drv_nonConstant __drv_notPointer ULONG_PTR NonConstant,
			 __drv_strictType(LINKAGE_FLAGS, 0) __drv_strictTypeMatch(0)
			 LINKAGE_FLAGS Flags);

FORCEINLINE BOOLEAN LinkageIsLock(_In_ PLIST_ENTRY Entry, _In_ PKSPIN_LOCK Lock)
{
	return Entry == (PVOID)Lock;
}
