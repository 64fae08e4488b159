/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NT_TYPES_H
#define _NTKLOG_NT_TYPES_H

/* Types and macros that NT code uses around its locks, with NT's names and values. */

#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <ntklog/irql.h>
#include <uapi/ntklog/system_information.h>

/* Linux has one calling convention, and no import libraries. */
#define FASTCALL
#define NTAPI
#define NTKERNELAPI
#define NTHALAPI
#define NTSYSAPI
#define FORCEINLINE		static __always_inline
#define DECLSPEC_NORETURN	__noreturn
#define DECLSPEC_ALIGN(Bytes)	__aligned(Bytes)

#define CONST			const
#define VOID			void
#ifndef TRUE
#define TRUE			1
#endif
#ifndef FALSE
#define FALSE			0
#endif

typedef void *PVOID, **PPVOID;
typedef const void *PCVOID;
typedef PVOID HANDLE, *PHANDLE;
/* The kernel's char is unsigned since 6.2. */
typedef s8 CHAR, CCHAR, *PCHAR;
typedef const CHAR *PCCHAR;
typedef char *PSTR;
typedef const char *PCSTR;
/* The kernel is built with wide characters of 16 bits, as NT is. */
typedef u16 WCHAR, *PWCHAR, *PWSTR;
typedef const WCHAR *PCWSTR, *PCWCHAR;
typedef u8 UCHAR, *PUCHAR;
typedef const UCHAR *PCUCHAR;
typedef s16 SHORT, CSHORT, *PSHORT;
typedef u16 USHORT, *PUSHORT;
typedef int INT, *PINT;
typedef unsigned int UINT, *PUINT;
typedef s32 LONG, CLONG, *PLONG;
typedef u32 ULONG, *PULONG;
typedef s64 LONGLONG, *PLONGLONG;
typedef u64 ULONGLONG, *PULONGLONG;
typedef s8 INT8, *PINT8;
typedef s16 INT16, *PINT16;
typedef s32 INT32, LONG32, *PINT32, *PLONG32;
typedef s64 INT64, LONG64, *PINT64, *PLONG64;
typedef u8 UINT8, *PUINT8;
typedef u16 UINT16, *PUINT16;
typedef u32 UINT32, ULONG32, *PUINT32, *PULONG32;
typedef u64 UINT64, ULONG64, *PUINT64, *PULONG64;
typedef long LONG_PTR, INT_PTR, *PLONG_PTR, *PINT_PTR;
typedef unsigned long ULONG_PTR, UINT_PTR, *PULONG_PTR, *PUINT_PTR;
typedef ULONG_PTR SIZE_T, *PSIZE_T;
typedef LONG_PTR SSIZE_T, *PSSIZE_T;
typedef ULONG_PTR KAFFINITY, *PKAFFINITY;
typedef LONG KPRIORITY;
typedef UCHAR BOOLEAN, *PBOOLEAN;
typedef ULONG LOGICAL, *PLOGICAL;
typedef LONG NTSTATUS, *PNTSTATUS;
typedef UCHAR KIRQL, *PKIRQL;

typedef union _LARGE_INTEGER {
	struct {
		ULONG LowPart;
		LONG HighPart;
	};
	struct {
		ULONG LowPart;
		LONG HighPart;
	} u;
	LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
	struct {
		ULONG LowPart;
		ULONG HighPart;
	};
	struct {
		ULONG LowPart;
		ULONG HighPart;
	} u;
	ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

/* Further IRQLs of x86-64; irql.h has those that ntklog uses. */
#define LOW_LEVEL		0
#define CMCI_LEVEL		5
#define DRS_LEVEL		14
#define POWER_LEVEL		14
#define PROFILE_LEVEL		15

#define NT_SUCCESS(Status)	((NTSTATUS)(Status) >= 0)
#define NT_INFORMATION(Status)	((ULONG)(Status) >> 30 == 1)
#define NT_WARNING(Status)	((ULONG)(Status) >> 30 == 2)
#define NT_ERROR(Status)	((ULONG)(Status) >> 30 == 3)

/* Status codes, signed as in NT. Those of system_information.h are unsigned. */
#undef STATUS_SUCCESS
#undef STATUS_NOT_IMPLEMENTED
#undef STATUS_INVALID_INFO_CLASS
#undef STATUS_INFO_LENGTH_MISMATCH
#undef STATUS_INVALID_PARAMETER
#undef STATUS_NO_MEMORY
#undef STATUS_ACCESS_DENIED
#define STATUS_SUCCESS				((NTSTATUS)0x00000000)
#define STATUS_NOT_IMPLEMENTED			((NTSTATUS)0xC0000002)
#define STATUS_INVALID_INFO_CLASS		((NTSTATUS)0xC0000003)
#define STATUS_INFO_LENGTH_MISMATCH		((NTSTATUS)0xC0000004)
#define STATUS_INVALID_PARAMETER		((NTSTATUS)0xC000000D)
#define STATUS_NO_MEMORY			((NTSTATUS)0xC0000017)
#define STATUS_ACCESS_DENIED			((NTSTATUS)0xC0000022)
#define STATUS_WAIT_0				((NTSTATUS)0x00000000)
#define STATUS_ABANDONED			((NTSTATUS)0x00000080)
#define STATUS_USER_APC				((NTSTATUS)0x000000C0)
#define STATUS_ALERTED				((NTSTATUS)0x00000101)
#define STATUS_TIMEOUT				((NTSTATUS)0x00000102)
#define STATUS_PENDING				((NTSTATUS)0x00000103)
#define STATUS_DEVICE_BUSY			((NTSTATUS)0x80000011)
#define STATUS_NO_MORE_ENTRIES			((NTSTATUS)0x8000001A)
#define STATUS_UNSUCCESSFUL			((NTSTATUS)0xC0000001)
#define STATUS_ACCESS_VIOLATION			((NTSTATUS)0xC0000005)
#define STATUS_INVALID_HANDLE			((NTSTATUS)0xC0000008)
#define STATUS_INVALID_DEVICE_REQUEST		((NTSTATUS)0xC0000010)
#define STATUS_BUFFER_TOO_SMALL			((NTSTATUS)0xC0000023)
#define STATUS_OBJECT_NAME_NOT_FOUND		((NTSTATUS)0xC0000034)
#define STATUS_MUTANT_NOT_OWNED			((NTSTATUS)0xC0000046)
#define STATUS_INSUFFICIENT_RESOURCES		((NTSTATUS)0xC000009A)
#define STATUS_DEVICE_NOT_READY			((NTSTATUS)0xC00000A3)
#define STATUS_NOT_SUPPORTED			((NTSTATUS)0xC00000BB)
#define STATUS_CANT_WAIT			((NTSTATUS)0xC00000D8)
#define STATUS_INTERNAL_ERROR			((NTSTATUS)0xC00000E5)
#define STATUS_CANCELLED			((NTSTATUS)0xC0000120)
#define STATUS_INVALID_DEVICE_STATE		((NTSTATUS)0xC0000184)
#define STATUS_NOT_FOUND			((NTSTATUS)0xC0000225)
#define STATUS_RESOURCE_NOT_OWNED		((NTSTATUS)0xC0000264)

#define C_ASSERT(Expression)		static_assert(Expression)
#define ARGUMENT_PRESENT(Argument)	((Argument) != NULL)
#define RTL_NUMBER_OF(Array)		ARRAY_SIZE(Array)
#define MAXULONG			0xffffffffU
#define FIELD_OFFSET(Type, Field)	((LONG)offsetof(Type, Field))
#define CONTAINING_RECORD(Address, Type, Field) \
	((Type *)((PUCHAR)(Address) - offsetof(Type, Field)))

#define UNREFERENCED_PARAMETER(Parameter)		((void)(Parameter))
#define DBG_UNREFERENCED_PARAMETER(Parameter)		((void)(Parameter))
#define DBG_UNREFERENCED_LOCAL_VARIABLE(Variable)	((void)(Variable))

/*
 * As in NT, assertions are evaluated only if DBG is defined and not 0. A failed assertion warns
 * once and continues. NT_VERIFY() always evaluates its expression, and warns only with DBG.
 */
#if defined(DBG) && DBG
#define ASSERT(Expression)		((void)WARN_ON_ONCE(!(Expression)))
#define ASSERTMSG(Message, Expression) \
	((void)WARN_ONCE(!(Expression), "%s\n", Message))
#define NT_ASSERT(Expression)				\
({							\
	BOOLEAN __ok = !!(Expression);			\
							\
	WARN_ON_ONCE(!__ok);				\
	__ok;						\
})
#define NT_VERIFY(Expression)		NT_ASSERT(Expression)
#else
#define ASSERT(Expression)		((void)sizeof(!(Expression)))
#define ASSERTMSG(Message, Expression)	((void)sizeof(!(Expression)))
#define NT_ASSERT(Expression)		((void)sizeof(!(Expression)))
#define NT_VERIFY(Expression)				\
({							\
	BOOLEAN __ok = !!(Expression);			\
							\
	__ok;						\
})
#endif

/* Warns at each call with an IRQL at which paging is not allowed. */
#define PAGED_CODE()						\
	((void)WARN(ke_get_current_irql() > APC_LEVEL,		\
		    "PAGED_CODE: %s at IRQL %u\n", __func__,	\
		    ke_get_current_irql()))

typedef struct _LIST_ENTRY {
	struct _LIST_ENTRY *Flink;
	struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
	struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

static __always_inline VOID InitializeListHead(PLIST_ENTRY ListHead)
{
	ListHead->Flink = ListHead;
	ListHead->Blink = ListHead;
}

static __always_inline BOOLEAN IsListEmpty(const LIST_ENTRY *ListHead)
{
	return ListHead->Flink == ListHead;
}

static __always_inline VOID InsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
	Entry->Flink = ListHead->Flink;
	Entry->Blink = ListHead;
	ListHead->Flink->Blink = Entry;
	ListHead->Flink = Entry;
}

static __always_inline VOID InsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
	InsertHeadList(ListHead->Blink, Entry);
}

/* Returns TRUE if the list is empty afterwards. */
static __always_inline BOOLEAN RemoveEntryList(PLIST_ENTRY Entry)
{
	Entry->Blink->Flink = Entry->Flink;
	Entry->Flink->Blink = Entry->Blink;
	return Entry->Flink == Entry->Blink;
}

static __always_inline PLIST_ENTRY RemoveHeadList(PLIST_ENTRY ListHead)
{
	PLIST_ENTRY Entry = ListHead->Flink;

	RemoveEntryList(Entry);
	return Entry;
}

static __always_inline PLIST_ENTRY RemoveTailList(PLIST_ENTRY ListHead)
{
	PLIST_ENTRY Entry = ListHead->Blink;

	RemoveEntryList(Entry);
	return Entry;
}

/* ListToAppend is a list of entries without a head. */
static __always_inline VOID AppendTailList(PLIST_ENTRY ListHead,
					   PLIST_ENTRY ListToAppend)
{
	PLIST_ENTRY Last = ListToAppend->Blink;

	ListHead->Blink->Flink = ListToAppend;
	ListToAppend->Blink = ListHead->Blink;
	Last->Flink = ListHead;
	ListHead->Blink = Last;
}

static __always_inline VOID PushEntryList(PSINGLE_LIST_ENTRY ListHead,
					  PSINGLE_LIST_ENTRY Entry)
{
	Entry->Next = ListHead->Next;
	ListHead->Next = Entry;
}

static __always_inline PSINGLE_LIST_ENTRY PopEntryList(PSINGLE_LIST_ENTRY ListHead)
{
	PSINGLE_LIST_ENTRY First = ListHead->Next;

	if (First)
		ListHead->Next = First->Next;
	return First;
}

#endif /* _NTKLOG_NT_TYPES_H */
