// SPDX-License-Identifier: GPL-2.0-only

#include <string.h>

#include "setting.h"

/**
 * setting_change() - change a setting of the module
 * @setting: its file is set
 * @expected: change the setting only if it has this value; NULL: whatever value it has
 * @value: new value
 *
 * Return: 0 or -errno: -ENOENT if the module has no such setting.
 */
int setting_change(struct setting *setting, const char *expected, const char *value)
{
	int err = kernel_read(setting->old_value, sizeof(setting->old_value), "%s", setting->file);

	if (!err && strcmp(setting->old_value, value) &&
	    (!expected || !strcmp(setting->old_value, expected))) {
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
		kernel_write(setting->old_value, "%s", setting->file);
	setting->is_changed = false;
}
