/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the kernel that spin_lock.c replaces. ACQUIRE() and RELEASE() are defined before
 * each inclusion.
 */

ACQUIRE(_raw_spin_lock)
ACQUIRE(_raw_spin_lock_irq)
ACQUIRE(_raw_spin_lock_irqsave)
ACQUIRE(_raw_spin_lock_bh)
#ifdef WITH_LOCK_IRQ_DISABLE
ACQUIRE(_raw_spin_lock_irq_disable)
#endif
#ifdef CONFIG_DEBUG_LOCK_ALLOC
ACQUIRE(_raw_spin_lock_nested)
ACQUIRE(_raw_spin_lock_irqsave_nested)
ACQUIRE(_raw_spin_lock_nest_lock)
#endif
ACQUIRE(_raw_spin_trylock)
ACQUIRE(_raw_spin_trylock_bh)
RELEASE(_raw_spin_unlock)
RELEASE(_raw_spin_unlock_irq)
#ifdef WITH_LOCK_IRQ_DISABLE
RELEASE(_raw_spin_unlock_irq_enable)
#endif
RELEASE(_raw_spin_unlock_irqrestore)
RELEASE(_raw_spin_unlock_bh)

#undef ACQUIRE
#undef RELEASE
