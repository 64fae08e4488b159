// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many slab caches have the name of their structure, or a similar one. A match also needs a lock of
 * that kind at the offset and, usually, the right size.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_rules.h"
#include "macros.h"

/* An object may be larger than its structure by less than this, because of its alignment. */
#define CACHE_LINE_BYTES	64

static const struct {
	const char *cache;
	const char *type;
} structures_of_caches[] = {
	{ "TCP", "tcp_sock" },
	{ "TCPv6", "tcp6_sock" },
	{ "UDP", "udp_sock" },
	{ "UDPv6", "udp6_sock" },
	{ "UNIX", "unix_sock" },
	{ "UNIX-DGRAM", "unix_sock" },
	{ "UNIX-STREAM", "unix_sock" },
	{ "PING", "inet_sock" },
	{ "RAW", "raw_sock" },
	{ "bdev_cache", "bdev_inode" },
	{ "blkdev_ioc", "io_context" },
	{ "cred_jar", "cred" },
	{ "dax_cache", "dax_device" },
	{ "debugfs_inode_cache", "debugfs_inode_info" },
	{ "eventpoll_epi", "epitem" },
	{ "filp", "file" },
	{ "files_cache", "files_struct" },
	{ "fs_cache", "fs_struct" },
	{ "inode_cache", "inode" },
	{ "ip_dst_cache", "rtable" },
	{ "key_jar", "key" },
	{ "mnt_cache", "mount" },
	{ "names_cache", "filename" },
	{ "proc_inode_cache", "proc_inode" },
	{ "radix_tree_node", "xa_node" },
	{ "sighand_cache", "sighand_struct" },
	{ "signal_cache", "signal_struct" },
	{ "skbuff_fclone_cache", "sk_buff_fclones" },
	{ "skbuff_head_cache", "sk_buff" },
	{ "sock_inode_cache", "socket_alloc" },
	{ "v9fs_inode_cache", "v9fs_inode" },
};

/* Structures whose size in BTF may differ from that of objects. They are not compared. */
static const char *const structures_of_unknown_size[] = {
	"task_struct", "mm_struct", "vm_area_struct"
};

/* Structures that kmalloc() allocates. */
static const char *const known_structures[] = {
	"Qdisc", "Scsi_Host", "ata_host", "backing_dev_info", "bdi_writeback", "blk_flush_queue",
	"blk_mq_hw_ctx", "blk_mq_tags", "blkcg", "blkcg_gq", "block_device", "bpf_map",
	"bpf_prog_aux", "cfs_rq", "cgroup", "clk_core", "css_set", "device_private", "eventpoll",
	"fib_table", "fsnotify_group", "gendisk", "gpio_device", "i2c_adapter", "input_dev",
	"irq_desc", "kernfs_root", "kioctx", "list_lru_node", "list_lru_one", "mem_cgroup",
	"mem_cgroup_per_node", "napi_struct", "neighbour", "net_device", "netns_ipv4",
	"nvme_queue", "pipe_inode_info", "poll_wqueues", "pool_workqueue", "rcu_tasks",
	"request_queue", "ring_buffer_per_cpu", "rt_rq", "sbitmap_word", "scsi_device",
	"simple_xattrs", "subsys_private", "super_block", "swap_info_struct", "task_group",
	"tmigr_group", "trace_array", "tty_port", "tty_struct", "uart_state", "ucounts", "urb",
	"usb_device", "usb_hcd", "user_struct", "virtqueue", "vring_virtqueue", "wakeup_source",
	"worker_pool", "workqueue_struct",
};

/* Structures that many others embed, so that one of these near a function says nothing. */
static const char *const common_members[] = {
	"spinlock", "raw_spinlock", "wait_queue_head", "lockref"
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Print the path from the outermost structure, or from a well-known one with the cache's name. */
static void print_path(char *text, size_t size, const char *type, const struct lock_path *path,
		       const char *cache)
{
	if (*path->root_struct_name)
		snprintf(text, size, "%s%s (%s)", path->root_struct_name, path->text +
			 path->root_offset, cache);
	else
		snprintf(text, size, "%s%s", type, path->text);
}

static enum cache_result try_type(const struct kernel_types *types, const char *name,
				  const struct lock_place *place, char *text, size_t size)
{
	struct lock_path path;
	struct type_ref type;

	if (!types_find_struct(types, name, &type))
		return CACHE_NOT_KNOWN;
	if (!is_one_of(name, structures_of_unknown_size, ARRAY_SIZE(structures_of_unknown_size)) &&
	    (type.size > place->object_size || type.size + CACHE_LINE_BYTES <= place->object_size))
		return CACHE_NOT_KNOWN;
	if (!types_find_lock(&type, place->offset, place->kind, &path))
		return CACHE_NO_LOCK;
	print_path(text, size, type.name, &path, place->cache);
	return CACHE_NAMED;
}

static bool remove_ending(char *name)
{
	static const char *const useless_endings[] = {
		"_cache", "_jar", "_slab", "_cachep", "_kmem", "_pool", "_struct", "_info"
	};
	size_t length = strlen(name), i;

	for (i = 0; i < ARRAY_SIZE(useless_endings); i++) {
		size_t end = strlen(useless_endings[i]);

		if (length > end && !strcmp(name + length - end, useless_endings[i])) {
			name[length - end] = '\0';
			return true;
		}
	}
	return false;
}

/**
 * cache_rules_apply() - name a lock by the name of its slab cache
 * @types: types of the kernel, or NULL
 * @place: cache, and offset of the lock in an object
 * @text: set to "STRUCTURE.MEMBER" on success
 * @size: bytes of @text
 *
 * Return: CACHE_NAMED on success, else the reason of the failure.
 */
enum cache_result cache_rules_apply(const struct kernel_types *types,
				    const struct lock_place *place, char *text, size_t size)
{
	static const char *const endings[] = { "", "_struct", "_info", "_node" };
	enum cache_result match, best = CACHE_NOT_KNOWN;
	char name[64], candidate[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(structures_of_caches); i++)
		if (!strcmp(structures_of_caches[i].cache, place->cache))
			return try_type(types, structures_of_caches[i].type, place, text, size);
	snprintf(name, sizeof(name), "%s", place->cache);
	/* The name may have a suffix in parentheses. */
	name[strcspn(name, "(")] = '\0';
	do {
		for (i = 0; i < ARRAY_SIZE(endings); i++) {
			snprintf(candidate, sizeof(candidate), "%s%s", name, endings[i]);
			match = try_type(types, candidate, place, text, size);
			if (match == CACHE_NAMED)
				return match;
			if (match > best)
				best = match;
		}
	} while (remove_ending(name));
	return best;
}

/**
 * cache_is_kmalloc() - test whether objects of a cache may be of any type, as kmalloc()'s are
 * @place: name of the cache and size of its objects
 *
 * The names of kmalloc()'s caches, also of CONFIG_SLAB_BUCKETS, end in the size. So do those of the
 * caches of bios, in which a driver's structure is in front of the bio.
 *
 * Return: true if objects of the cache can be any structure of that size.
 */
bool cache_is_kmalloc(const struct lock_place *place)
{
	const char *dash = strrchr(place->cache, '-');
	unsigned long size;
	char *end;

	if (!dash || !dash[1])
		return false;
	size = strtoul(dash + 1, &end, 10);
	if (*end == 'k' || *end == 'M') {
		size <<= *end == 'k' ? 10 : 20;
		end++;
	}
	return end > dash + 1 && !*end && size == place->object_size;
}

/* Return the size of the next smaller cache of kmalloc(), which serves requests up to that size. */
static uint32_t next_smaller_size(uint32_t size)
{
	switch (size) {
	case 8:
		return 0;
	case 96:
		return 64;
	case 128:
		return 96;
	case 192:
		return 128;
	case 256:
		return 192;
	default:
		return size / 2;
	}
}

static bool type_fits(const struct type_ref *type, const struct lock_place *place,
		      struct lock_path *path)
{
	return type->size > next_smaller_size(place->object_size) &&
	       type->size <= place->object_size && *type->name &&
	       !is_one_of(type->name, common_members, ARRAY_SIZE(common_members)) &&
	       types_find_lock(type, place->offset, place->kind, path);
}

/*
 * Guess the structure that fits and has the least distance, if no other one has the same distance.
 * The distance is the number of members on the way from a parameter or the result of @function to
 * the structure; it may be @max_distance at most.
 */
static bool guess_by_function(const struct kernel_types *types, const struct lock_place *place,
			      const char *function, const char *module, unsigned int max_distance,
			      char *text, size_t size)
{
	static struct type_ref near_types[TYPES_NEAR_MAX];
	static unsigned int distances[TYPES_NEAR_MAX];
	size_t count = types_find_near_function(types, function, module, near_types, distances), i;
	struct lock_path path, found_path;
	const struct type_ref *found = NULL;
	unsigned int least_distance = max_distance + 1;
	bool is_unique = false;

	for (i = 0; i < count; i++) {
		if (distances[i] > least_distance || !type_fits(&near_types[i], place, &path))
			continue;
		is_unique = distances[i] < least_distance;
		least_distance = distances[i];
		found = &near_types[i];
		found_path = path;
	}
	if (!found || !is_unique || least_distance > max_distance)
		return false;
	print_path(text, size, found->name, &found_path, place->cache);
	return true;
}

static bool guess_by_table(const struct kernel_types *types, const struct lock_place *place,
			   char *text, size_t size)
{
	struct lock_path path, found_path;
	struct type_ref type, found;
	size_t count = 0, i;

	for (i = 0; i < ARRAY_SIZE(known_structures); i++) {
		if (!types_find_struct(types, known_structures[i], &type) ||
		    !type_fits(&type, place, &path))
			continue;
		count++;
		found = type;
		found_path = path;
	}
	if (count != 1)
		return false;
	print_path(text, size, found.name, &found_path, place->cache);
	return true;
}

static bool guess_by_module(const struct kernel_types *types, const struct lock_place *place,
			    const char *module, char *text, size_t size)
{
	struct lock_path path;
	struct type_ref type;

	if (!*module ||
	    types_find_in_module(types, module, next_smaller_size(place->object_size),
				 place->object_size, place->offset, place->kind, &type) != 1)
		return false;
	types_find_lock(&type, place->offset, place->kind, &path);
	print_path(text, size, type.name, &path, place->cache);
	return true;
}

/**
 * cache_guess_type() - guess the name of a lock in memory of kmalloc()
 * @types: types of the kernel, or NULL
 * @place: cache, and offset of the lock in an object
 * @function: function that used the lock; empty if it is not known
 * @module: module of @function, or an empty text for the kernel
 * @text: set to "STRUCTURE.MEMBER", without the mark of a guess
 * @size: bytes of @text
 *
 * Return: true if a structure was guessed.
 */
bool cache_guess_type(const struct kernel_types *types, const struct lock_place *place,
		      const char *function, const char *module, char *text, size_t size)
{
	return guess_by_function(types, place, function, module, 0, text, size) ||
	       guess_by_module(types, place, module, text, size) ||
	       guess_by_table(types, place, text, size) ||
	       guess_by_function(types, place, function, module, 2, text, size);
}
