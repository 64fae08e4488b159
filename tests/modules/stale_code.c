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
 * breakpoint anew, nothing drops that, and the kernel dies of a breakpoint that nobody has
 * set. On two of the host's processors that happens once in some hundred thousand patches.
 *
 * So: a breakpoint in the kernel's code, where memory has none any more and nobody has claimed
 * it, is counted and told, its translation is dropped by a store that changes nothing, and
 * the instruction is executed again. Whatever else is wrong still dies as it would.
 *
 * Kernels before 6.3 do not die of it: kprobes take it for one that has just been removed, and
 * execute the instruction again, and again, for good and with interrupts off. There the function
 * that kprobes ask for their probe is hooked.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/version.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

/* Within a second, by one processor at one address: then dropping does not help. */
#define MOST_TRIES	1000

static unsigned int count;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "stale breakpoints that were met");

/* Of this processor, in its breakpoint handler, which nothing interrupts. */
static DEFINE_PER_CPU(unsigned long, last_address);
static DEFINE_PER_CPU(unsigned long, since);
static DEFINE_PER_CPU(unsigned int, tries);

/*
 * Code is mapped read-only: the store needs CR0.WP off, for which native_write_cr0() is too
 * careful. It is atomic, for somebody may be patching the very byte.
 */
static void drop_translation(unsigned char *code)
{
	unsigned long cr0;

	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	asm volatile("mov %0, %%cr0" : : "r" (cr0 & ~X86_CR0_WP) : "memory");
	asm volatile("lock orb $0, %0" : "+m" (*code));
	asm volatile("mov %0, %%cr0" : : "r" (cr0) : "memory");
}

static void meet(unsigned char *code)
{
	/* Two processors may count one: it tells that there are such, not how many. */
	WRITE_ONCE(count, READ_ONCE(count) + 1);
	pr_notice_ratelimited("QEMU has met a breakpoint that is gone at %pS\n", code);
	drop_translation(code);
}

static int stale_code_notify(struct notifier_block *block, unsigned long event, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	unsigned char *code = (unsigned char *)regs->ip - INT3_INSN_SIZE;

	if (event != DIE_INT3 || user_mode(regs) || READ_ONCE(*code) == INT3_INSN_OPCODE)
		return NOTIFY_DONE;
	if (__this_cpu_read(last_address) != regs->ip ||
	    time_after(jiffies, __this_cpu_read(since) + HZ)) {
		__this_cpu_write(last_address, regs->ip);
		__this_cpu_write(since, jiffies);
		__this_cpu_write(tries, 0);
	}
	if (__this_cpu_inc_return(tries) > MOST_TRIES)
		return NOTIFY_DONE;
	meet(code);
	regs->ip = (unsigned long)code;
	return NOTIFY_STOP;
}

static struct notifier_block stale_code_block = {
	.notifier_call = stale_code_notify,
	/* After all that may take a breakpoint for their own. */
	.priority = INT_MIN,
};

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
/* get_kprobe(address): in a breakpoint's handler, which is as an NMI, of the breakpoint. */
static void stale_code_get_kprobe(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	unsigned char *code = (unsigned char *)ftrace_get_regs(fregs)->di;

	if (in_nmi() && READ_ONCE(*code) != INT3_INSN_OPCODE)
		meet(code);
}

static struct ftrace_ops stale_code_ops = {
	.func = stale_code_get_kprobe,
	.flags = FTRACE_OPS_FL_SAVE_REGS,
};

static int hook_kprobes(void)
{
	unsigned char name[] = "get_kprobe";
	int err = ftrace_set_filter(&stale_code_ops, name, sizeof(name) - 1, 1);

	return err ?: register_ftrace_function(&stale_code_ops);
}

static void unhook_kprobes(void)
{
	unregister_ftrace_function(&stale_code_ops);
}
#else
static int hook_kprobes(void)
{
	return 0;
}

static void unhook_kprobes(void)
{
}
#endif

static int __init stale_code_init(void)
{
	int err = register_die_notifier(&stale_code_block);

	if (err)
		return err;
	err = hook_kprobes();
	if (err)
		unregister_die_notifier(&stale_code_block);
	return err;
}
module_init(stale_code_init);

static void __exit stale_code_exit(void)
{
	unhook_kprobes();
	unregister_die_notifier(&stale_code_block);
}
module_exit(stale_code_exit);

MODULE_DESCRIPTION("Goes on where QEMU has executed a breakpoint that the kernel has removed");
MODULE_LICENSE("GPL");
