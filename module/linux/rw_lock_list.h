/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the kernel that rw_lock.c replaces. ACQUIRE() and RELEASE() are defined before
 * each inclusion.
 */

ACQUIRE(_raw_read_lock)
ACQUIRE(_raw_read_lock_irq)
ACQUIRE(_raw_read_lock_irqsave)
ACQUIRE(_raw_read_lock_bh)
ACQUIRE(_raw_read_trylock)
RELEASE(_raw_read_unlock)
RELEASE(_raw_read_unlock_irq)
RELEASE(_raw_read_unlock_irqrestore)
RELEASE(_raw_read_unlock_bh)
ACQUIRE(_raw_write_lock)
ACQUIRE(_raw_write_lock_irq)
ACQUIRE(_raw_write_lock_irqsave)
ACQUIRE(_raw_write_lock_bh)
ACQUIRE(_raw_write_trylock)
RELEASE(_raw_write_unlock)
RELEASE(_raw_write_unlock_irq)
RELEASE(_raw_write_unlock_irqrestore)
RELEASE(_raw_write_unlock_bh)
ACQUIRE(_raw_write_lock_nested, .optional = true)

#undef ACQUIRE
#undef RELEASE
