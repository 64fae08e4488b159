// SPDX-License-Identifier: GPL-2.0-only
/*
 * stale_code: work around a race of QEMU, whose parallel CPUs may execute a breakpoint that the
 * kernel has already replaced.
 *
 * The kernel patches code (static keys, ftrace) by writing a breakpoint first and the new first
 * byte last. Then it interrupts all CPUs; after that, Intel and AMD guarantee that no CPU executes
 * the breakpoint. QEMU translates code in advance. A store into translated code first drops the
 * translation and then writes, without a lock for both steps (notdirty_write() and its caller,
 * accel/tcg/cputlb.c of QEMU 10). If the host preempts the writer in between, another CPU
 * translates the breakpoint again, and this translation is never dropped. The kernel then dies of
 * an unknown breakpoint.
 *
 * This module handles breakpoints first. It repeats the instruction of a kernel breakpoint that
 * memory does not have any more.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/stringify.h>
#include <asm/cpufeature.h>
#include <asm/desc.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/processor-flags.h>
#include <asm/trapnr.h>

/* Any CPU increments this by an atomic instruction. */
static unsigned int stale_code_count __used;
/* Address of the most recent stale breakpoint of any CPU. Exchanged atomically. */
static unsigned long stale_code_last __used;
/* Address of the kernel's handler of breakpoints. Written once, at load. */
static unsigned long stale_code_next __used;

module_param_named(count, stale_code_count, uint, 0444);
MODULE_PARM_DESC(count, "number of stale breakpoints that were removed");

/*
 * Clear the dirty bit of a read-only page of code, which the store below has set. The kernel takes
 * a dirty read-only page for a shadow stack, and warns when it changes the page, for instance when
 * the module with that code is unloaded.
 */
static notrace noinline __used void stale_code_clear_dirty_bit(unsigned long address)
{
	unsigned int page_level;
	pte_t *entry = lookup_address(address, &page_level);

	if (entry && !(pte_flags(*entry) & _PAGE_RW))
		clear_bit(_PAGE_BIT_DIRTY, (unsigned long *)entry);
}

/*
 * The handler of a breakpoint. The stack has the return address (one byte after the breakpoint), CS
 * and flags. If the breakpoint was in user space (1:) or is still in memory (3:), jump to the
 * kernel's handler. Otherwise execute the instruction again (2:). If the most recent stale
 * breakpoint was at the same address, first store the byte there with its own value, which drops
 * the translation. Code is mapped read-only, so the store needs CR0.WP cleared. The store is
 * atomic, because the kernel may be patching the same byte.
 */
asm(".pushsection .text, \"ax\", @progbits\n"
	"stale_code_int3:\n"
	"	" ASM_ENDBR
	"	testb $3, 8(%rsp)\n"
	"	jnz 1f\n"
	"	pushq %rax\n"
	"	movq 8(%rsp), %rax\n"
	"	decq %rax\n"
	"	cmpb $0xCC, (%rax)\n"
	"	je 3f\n"
	"	movq %rax, 8(%rsp)\n"
	"	xchgq %rax, stale_code_last(%rip)\n"
	"	cmpq %rax, 8(%rsp)\n"
	"	jne 2f\n"
	"	pushq %rcx\n"
	"	pushq %rdx\n"
	"	movq %cr0, %rdx\n"
	"	movq %rdx, %rcx\n"
	"	btrq $" __stringify(X86_CR0_WP_BIT) ", %rcx\n"
	"	movq %rcx, %cr0\n"
	"	lock orb $0, (%rax)\n"
	"	movq %rdx, %cr0\n"
	"	lock incl stale_code_count(%rip)\n"
	"	pushq %rsi\n"
	"	pushq %rdi\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %r10\n"
	"	pushq %r11\n"
	"	pushq %rbp\n"
	"	movq %rsp, %rbp\n"
	"	andq $-16, %rsp\n"
	"	movq %rax, %rdi\n"
	"	call stale_code_clear_dirty_bit\n"
	"	movq %rbp, %rsp\n"
	"	popq %rbp\n"
	"	popq %r11\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rdi\n"
	"	popq %rsi\n"
	"	popq %rdx\n"
	"	popq %rcx\n"
	"2:	popq %rax\n"
	"	iretq\n"
	"3:	popq %rax\n"
	"1:	" ANNOTATE_RETPOLINE_SAFE
	"	jmp *stale_code_next(%rip)\n"
	".popsection\n");

static gate_desc *breakpoint_gate(void)
{
	struct desc_ptr idt;

	store_idt(&idt);
	return (gate_desc *)idt.address + X86_TRAP_BP;
}

/*
 * Write the gate of breakpoints by one store of 8 bytes, so that another CPU finds the old gate or
 * the new one. These bytes have the lower half of the handler's address. The interrupt descriptor
 * table is mapped read-only, hence CR0.WP.
 */
static void set_breakpoint_gate(unsigned long address)
{
	gate_desc *gate = breakpoint_gate(), changed = *gate;
	unsigned long cr0, flags;

	changed.offset_low = (u16)address;
	changed.offset_middle = (u16)(address >> 16);
	local_irq_save(flags);
	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	asm volatile("mov %0, %%cr0" : : "r" (cr0 & ~X86_CR0_WP) : "memory");
	WRITE_ONCE(*(u64 *)gate, *(u64 *)&changed);
	asm volatile("mov %0, %%cr0" : : "r" (cr0) : "memory");
	local_irq_restore(flags);
}

static int __init stale_code_init(void)
{
	unsigned long handler;

	/* With page-table isolation this code may not be mapped. */
	if (boot_cpu_has(X86_FEATURE_PTI))
		return -ENODEV;
	stale_code_next = gate_offset(breakpoint_gate());
	asm("leaq stale_code_int3(%%rip), %0" : "=r" (handler));
	set_breakpoint_gate(handler);
	return 0;
}
module_init(stale_code_init);

/* There is no exit function, because a CPU may be executing stale_code_int3 at any time. */

MODULE_DESCRIPTION("Handles breakpoints that QEMU executes after the kernel has removed them");
MODULE_LICENSE("GPL");
