/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NT_TYPES_H
#define _NTKLOG_NT_TYPES_H

/*
 * What code written for NT takes for granted around its locks: calling conventions,
 * types, status codes, lists and assertions, in NT's spelling and with NT's values.
 * <ntklog/nt.h> has the locks.
 */

#include <linux/bug.h>
#include <linux/container_of.h>
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
/* The kernel's own char has no sign. */
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

/* More IRQLs of NT's for x86-64; those that ntklog uses itself are in irql.h. */
#define LOW_LEVEL		0
#define CMCI_LEVEL		5
#define DRS_LEVEL		14
#define POWER_LEVEL		14
#define PROFILE_LEVEL		15

#define NT_SUCCESS(Status)	((NTSTATUS)(Status) >= 0)
#define NT_INFORMATION(Status)	((ULONG)(Status) >> 30 == 1)
#define NT_WARNING(Status)	((ULONG)(Status) >> 30 == 2)
#define NT_ERROR(Status)	((ULONG)(Status) >> 30 == 3)

/* Those that locks and what is around them return; more are in system_information.h. */
#define STATUS_WAIT_0				0x00000000u
#define STATUS_ABANDONED			0x00000080u
#define STATUS_USER_APC				0x000000C0u
#define STATUS_ALERTED				0x00000101u
#define STATUS_TIMEOUT				0x00000102u
#define STATUS_PENDING				0x00000103u
#define STATUS_DEVICE_BUSY			0x80000011u
#define STATUS_NO_MORE_ENTRIES			0x8000001Au
#define STATUS_UNSUCCESSFUL			0xC0000001u
#define STATUS_ACCESS_VIOLATION			0xC0000005u
#define STATUS_INVALID_HANDLE			0xC0000008u
#define STATUS_INVALID_DEVICE_REQUEST		0xC0000010u
#define STATUS_BUFFER_TOO_SMALL			0xC0000023u
#define STATUS_OBJECT_NAME_NOT_FOUND		0xC0000034u
#define STATUS_MUTANT_NOT_OWNED			0xC0000046u
#define STATUS_INSUFFICIENT_RESOURCES		0xC000009Au
#define STATUS_DEVICE_NOT_READY			0xC00000A3u
#define STATUS_NOT_SUPPORTED			0xC00000BBu
#define STATUS_CANT_WAIT			0xC00000D8u
#define STATUS_INTERNAL_ERROR			0xC00000E5u
#define STATUS_CANCELLED			0xC0000120u
#define STATUS_INVALID_DEVICE_STATE		0xC0000184u
#define STATUS_NOT_FOUND			0xC0000225u
#define STATUS_RESOURCE_NOT_OWNED		0xC0000264u

#define FIELD_OFFSET(Type, Field)	((LONG)offsetof(Type, Field))
#define CONTAINING_RECORD(Address, Type, Field) \
	((Type *)((PUCHAR)(Address) - offsetof(Type, Field)))

#define UNREFERENCED_PARAMETER(Parameter)		((void)(Parameter))
#define DBG_UNREFERENCED_PARAMETER(Parameter)		((void)(Parameter))
#define DBG_UNREFERENCED_LOCAL_VARIABLE(Variable)	((void)(Variable))

/*
 * As in NT, assertions are there where DBG is defined and not 0, and not evaluated
 * elsewhere. One that fails is a warning of the kernel's, once, and goes on.
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

/* Says at each call for which it is not true that the caller may be paged out. */
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

/* Whether the list is empty now. */
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

/* ListToAppend is entries without a head. */
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
