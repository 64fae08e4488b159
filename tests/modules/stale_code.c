// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU's parallel processors may go on executing a breakpoint that the kernel has replaced.
 *
 * The kernel patches code (static keys, ftrace) by a breakpoint first and the new first byte
 * last, and once all processors have answered an interrupt after that, none meets the
 * breakpoint any more: that is what an Intel or AMD processor promises. QEMU translates code
 * ahead. Its store into code that is translated drops the translation first and writes then,
 * with no lock over both (notdirty_write() and its caller, accel/tcg/cputlb.c of QEMU 10). If
 * the host takes the writer's thread away in between, another processor translates the
 * breakpoint anew, and nothing drops that. The kernel dies of a breakpoint that nobody has set;
 * or, before 6.3, stands still with interrupts off: kprobes take it for one that has just been
 * removed, and execute the instruction again, and again. On two of the host's processors that
 * happens once in some hundred thousand patches.
 *
 * So breakpoints come here first. One in the kernel, where memory has none any more, is executed
 * again; if it comes back at once, its translation is dropped by a store that changes nothing,
 * and it is counted. All others go where they went.
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

/* Written by any processor, the first with atomics. */
static unsigned int stale_code_count __used;
static unsigned long stale_code_last __used;
/* Written once, at load. */
static unsigned long stale_code_next __used;

module_param_named(count, stale_code_count, uint, 0444);
MODULE_PARM_DESC(count, "stale breakpoints that were met");

/*
 * The store has left a page that is read-only and dirty, which the kernel takes for a shadow stack,
 * and warns of when it changes the page: when a module goes that has its code there.
 */
static notrace noinline __used void stale_code_clean(unsigned long address)
{
	unsigned int level;
	pte_t *entry = lookup_address(address, &level);

	if (entry && !(pte_flags(*entry) & _PAGE_RW))
		clear_bit(_PAGE_BIT_DIRTY, (unsigned long *)entry);
}

/*
 * The gate of a breakpoint: on the stack is where it returns to, one byte on; CS; flags. Code is
 * mapped read-only: the store needs CR0.WP off. It is atomic, for somebody may be patching the
 * very byte.
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
	"	call stale_code_clean\n"
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
 * The upper half of all addresses of code is the same, and the rest of a gate's one word: so a
 * breakpoint on another processor finds the old gate or the new one. The table is read-only.
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
	unsigned long address;

	/* With two page tables a process' breakpoint would not find us. */
	if (boot_cpu_has(X86_FEATURE_PTI))
		return -ENODEV;
	stale_code_next = gate_offset(breakpoint_gate());
	asm("leaq stale_code_int3(%%rip), %0" : "=r" (address));
	set_breakpoint_gate(address);
	return 0;
}
module_init(stale_code_init);

/* No exit: somebody may be on the way through. */

MODULE_DESCRIPTION("Goes on where QEMU has executed a breakpoint that the kernel has removed");
MODULE_LICENSE("GPL");
