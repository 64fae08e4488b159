/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SLEEPING_CASES_H
#define _SLEEPING_CASES_H

void take_ten(void);
void read_twice(void);
void fire_contention_without_a_wait(void);
void take_with_context(void);
void release_by_another_thread(void);
void read_with_interrupts_off(void);
void read_for_another_thread(void);

#endif /* _SLEEPING_CASES_H */
