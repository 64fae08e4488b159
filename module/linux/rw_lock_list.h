/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the kernel that rw_lock.c replaces. ACQUIRE_FUNCTION() and RELEASE_FUNCTION()
 * are defined before each inclusion.
 */

ACQUIRE_FUNCTION(_raw_read_lock)
ACQUIRE_FUNCTION(_raw_read_lock_irq)
ACQUIRE_FUNCTION(_raw_read_lock_irqsave)
ACQUIRE_FUNCTION(_raw_read_lock_bh)
ACQUIRE_FUNCTION(_raw_read_trylock)
RELEASE_FUNCTION(_raw_read_unlock, READ_WAITERS_MASK)
RELEASE_FUNCTION(_raw_read_unlock_irq, READ_WAITERS_MASK)
RELEASE_FUNCTION(_raw_read_unlock_irqrestore, READ_WAITERS_MASK)
RELEASE_FUNCTION(_raw_read_unlock_bh, READ_WAITERS_MASK)
ACQUIRE_FUNCTION(_raw_write_lock)
ACQUIRE_FUNCTION(_raw_write_lock_irq)
ACQUIRE_FUNCTION(_raw_write_lock_irqsave)
ACQUIRE_FUNCTION(_raw_write_lock_bh)
ACQUIRE_FUNCTION(_raw_write_trylock)
RELEASE_FUNCTION(_raw_write_unlock, WRITE_WAITERS_MASK)
RELEASE_FUNCTION(_raw_write_unlock_irq, WRITE_WAITERS_MASK)
RELEASE_FUNCTION(_raw_write_unlock_irqrestore, WRITE_WAITERS_MASK)
RELEASE_FUNCTION(_raw_write_unlock_bh, WRITE_WAITERS_MASK)
ACQUIRE_FUNCTION(_raw_write_lock_nested, .optional = true)

#undef ACQUIRE_FUNCTION
#undef RELEASE_FUNCTION
