/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the kernel that spin_lock.c replaces. ACQUIRE_FUNCTION() and RELEASE_FUNCTION()
 * are defined before each inclusion.
 */

ACQUIRE_FUNCTION(_raw_spin_lock)
ACQUIRE_FUNCTION(_raw_spin_lock_irq)
ACQUIRE_FUNCTION(_raw_spin_lock_irqsave)
ACQUIRE_FUNCTION(_raw_spin_lock_bh)
#ifdef WITH_LOCK_IRQ_DISABLE
ACQUIRE_FUNCTION(_raw_spin_lock_irq_disable)
#endif
#ifdef CONFIG_DEBUG_LOCK_ALLOC
ACQUIRE_FUNCTION(_raw_spin_lock_nested)
ACQUIRE_FUNCTION(_raw_spin_lock_irqsave_nested)
ACQUIRE_FUNCTION(_raw_spin_lock_nest_lock)
#endif
ACQUIRE_FUNCTION(_raw_spin_trylock)
ACQUIRE_FUNCTION(_raw_spin_trylock_bh)
RELEASE_FUNCTION(_raw_spin_unlock)
RELEASE_FUNCTION(_raw_spin_unlock_irq)
#ifdef WITH_LOCK_IRQ_DISABLE
RELEASE_FUNCTION(_raw_spin_unlock_irq_enable)
#endif
RELEASE_FUNCTION(_raw_spin_unlock_irqrestore)
RELEASE_FUNCTION(_raw_spin_unlock_bh)

#undef ACQUIRE_FUNCTION
#undef RELEASE_FUNCTION
