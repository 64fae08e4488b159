// SPDX-License-Identifier: GPL-2.0-only
/* See setting.h. */

#include <string.h>

#include "setting.h"

/**
 * setting_change() - change a setting of the module
 * @setting: its file is set
 * @from: the value that is changed, others stay; NULL: any value
 * @value: new value
 *
 * Return: 0 or -errno: -ENOENT if the module has no such setting.
 */
int setting_change(struct setting *setting, const char *from, const char *value)
{
	int err = kernel_read(setting->old, sizeof(setting->old), "%s", setting->file);

	if (!err && strcmp(setting->old, value) && (!from || !strcmp(setting->old, from))) {
		err = kernel_write(value, "%s", setting->file);
		setting->is_changed = !err;
	}
	return err;
}

/**
 * setting_restore() - put the old value back
 * @setting: after setting_change(), whether that succeeded or not
 */
void setting_restore(struct setting *setting)
{
	if (setting->is_changed)
		kernel_write(setting->old, "%s", setting->file);
	setting->is_changed = false;
}
