// SPDX-License-Identifier: GPL-2.0-only
/* Stubs stand for functions of the module that no measured path calls. */

#include <asm/prctl.h>
#include <linux/membarrier.h>
#include <ntklog/irql.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ground/address.h"
#include "ground/each_cpu.h"
#include "linux/kind.h"
#include "perf/spin_lock_cpu.h"
#include "perf/spin_lock_parameters.h"

DEFINE_PER_CPU(unsigned long, shim_this_cpu_off);
DEFINE_PER_CPU(u32, shim_preempt_count) = PREEMPT_NO_RESCHED;
DEFINE_PER_CPU(u32, shim_softirq_pending);
static DEFINE_PER_CPU_ALIGNED(char, shim_percpu_pool[8192]);
DEFINE_PER_CPU(struct task_struct *, shim_current);
DEFINE_PER_CPU(int, shim_cpu_number);
static DEFINE_PER_CPU_ALIGNED(struct task_struct, shim_task);
static DEFINE_PER_CPU(u32, shim_rcu_state) = 1;
DEFINE_PER_CPU(irq_cpustat_t, irq_stat);
DEFINE_PER_CPU(struct kernel_stat, kstat);
DEFINE_PER_CPU_ALIGNED(struct ntklog_current, ntklog_current);
unsigned long shim_cpu_off[SHIM_CPUS];

extern char __start_shim_percpu[], __stop_shim_percpu[], __executable_start[], etext[];
extern struct shim_site __start_shim_sites[], __stop_shim_sites[];

static void shim_check(bool succeeded, const char *what)
{
	if (succeeded)
		return;
	perror(what);
	exit(1);
}

static const unsigned char shim_nop[] = { 0x0f, 0x1f, 0x44, 0, 0 };

#define SHIM_JUMP	0xe9
#define SHIM_CALL	0xe8

static void shim_write_branch(unsigned char *code, unsigned char operation,
			      const unsigned char *target)
{
	int distance = target - (code + sizeof(shim_nop));

	code[0] = operation;
	memcpy(code + 1, &distance, sizeof(distance));
}

static void shim_patch(const struct shim_site *site)
{
	if (site->key->on == site->nop_if_enabled)
		memcpy(site->code, shim_nop, sizeof(shim_nop));
	else
		shim_write_branch(site->code, SHIM_JUMP, site->target);
}

/* Make patched code visible to the instruction fetch of all threads. */
static void shim_sync_patched_code(void)
{
	shim_check(!syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0),
		   "membarrier");
}

/* Allocate a part of the per-CPU data. shim_start() has copied all of it for each CPU. */
void *shim_alloc_percpu(size_t size)
{
	static size_t used;
	void *allocated = shim_percpu_pool + used;

	used += (size + 63) & ~63UL;
	shim_check(used <= sizeof(shim_percpu_pool), "per-CPU memory");
	return allocated;
}

void shim_start(void)
{
	size_t size = __stop_shim_percpu - __start_shim_percpu;
	const struct shim_site *site;
	int cpu;

	shim_check(!mprotect(__executable_start, etext - __executable_start,
			     PROT_READ | PROT_WRITE | PROT_EXEC), "make the text writable");
	shim_check(!syscall(SYS_membarrier,
			    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0),
		   "membarrier");
	for (site = __start_shim_sites; site < __stop_shim_sites; site++)
		shim_patch(site);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		char *copy = aligned_alloc(4096, (size + 4095) & ~4095UL);

		shim_check(copy, "memory of a processor");
		memcpy(copy, __start_shim_percpu, size);
		shim_cpu_off[cpu] = (unsigned long)copy - (unsigned long)__start_shim_percpu;
		per_cpu(shim_this_cpu_off, cpu) = shim_cpu_off[cpu];
		per_cpu(shim_cpu_number, cpu) = cpu;
		per_cpu(shim_task, cpu).pid = 1000 + cpu;
		per_cpu(shim_current, cpu) = &per_cpu(shim_task, cpu);
		per_cpu(ntklog_current, cpu).passive_task = &per_cpu(shim_task, cpu);
	}
}

void shim_become_cpu(int cpu)
{
	shim_check(!syscall(SYS_arch_prctl, ARCH_SET_GS, shim_cpu_off[cpu]), "arch_prctl");
}

/* Stand-in for module/ground/each_cpu.c: the calling thread becomes each CPU in turn. */
void ntklog_update_each_cpu(void (*update)(int cpu))
{
	unsigned long own_offset = raw_cpu_read(shim_this_cpu_off);
	int cpu;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_become_cpu(cpu);
		update(cpu);
	}
	for (cpu = 0; shim_cpu_off[cpu] != own_offset; cpu++)
		;
	shim_become_cpu(cpu);
}

/* No other thread may run the patched code. */
void shim_set_key(struct static_key_false *key, bool on)
{
	const struct shim_site *site;

	key->on = on;
	for (site = __start_shim_sites; site < __stop_shim_sites; site++)
		if (site->key == key)
			shim_patch(site);
	shim_sync_patched_code();
}

void shim_patch_call(void *function, const void *target)
{
	static const unsigned char patch_area[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char *code = function;

	if (!memcmp(code, endbr, sizeof(endbr)))
		code += sizeof(endbr);
	if (memcmp(code, patch_area, sizeof(patch_area)) &&
	    memcmp(code, shim_nop, sizeof(shim_nop)) && code[0] != SHIM_CALL)
		abort();
	if (target)
		shim_write_branch(code, SHIM_CALL, target);
	else
		memcpy(code, shim_nop, sizeof(shim_nop));
	shim_sync_patched_code();
}

/* A function, as in the kernel: it reads a word of the CPU. */
noinline bool rcu_is_watching(void)
{
	bool is_watching;

	preempt_disable();
	is_watching = raw_cpu_read(shim_rcu_state) & 1;
	preempt_enable();
	return is_watching;
}

/* Stand-ins for module/perf/spin_lock.c. */
struct static_key_false ntklog_spin_lock_key = STATIC_KEY_FALSE_INIT;
struct static_key_false ntklog_spin_lock_tracking_key = STATIC_KEY_FALSE_INIT;

unsigned long jiffies;

/* Stand-in for module/linux/locks.c: the SpinCount of a record is its wait in cycles. */
u32 ntklog_cycles_per_spin = 1;

enum ntklog_address_mode ntklog_address_mode;

u64 ntklog_hide_address(unsigned long address)
{
	return address;
}

u8 ke_get_current_irql(void)
{
	abort();
}

u8 ke_raise_irql_slow(u8 new_irql)
{
	abort();
}

u8 ke_raise_irql_to_synch_level(void)
{
	abort();
}

void ke_lower_irql_slow(u32 state)
{
	abort();
}
