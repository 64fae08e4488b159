// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_types DIRECTORY [MODULE...]: write the BTF files vmlinux and driver of an invented kernel
 * and module, and for each MODULE one with many types.
 */

#include <stdio.h>
#include <stdlib.h>

#include <bpf/btf.h>

/* Types of a module that make the tool's index of names grow at each such module. */
#define MANY_TYPES_COUNT	20000

/*
 * Structure of the kernel and of each module with many types. The tool's index of names has a place
 * for it at the end of the table, so that the second one of the name is at the start.
 */
#define REPEATED_NAME	"repeated_1002"

static struct btf *kernel;
static int word_id, spinlock_id, rwlock_id, mutex_id, rwsem_id;

/* Return the id of a type that was made. Exit with a message if making it failed. */
static int require_id(int id)
{
	if (id < 0) {
		fprintf(stderr, "make_types: %s\n", "a type cannot be made");
		exit(1);
	}
	return id;
}

struct member {
	const char *name;
	int type_id;
	unsigned int offset;
};

static int make_struct(struct btf *btf, const char *name, unsigned int size,
		       const struct member *members, size_t count)
{
	int id = require_id(btf__add_struct(btf, name, size));
	size_t i;

	for (i = 0; i < count; i++)
		require_id(btf__add_field(btf, members[i].name, members[i].type_id,
					  members[i].offset * 8, 0));
	return id;
}

#define MAKE(btf, name, size, ...)						\
	make_struct(btf, name, size, (const struct member[]) { __VA_ARGS__ },	\
		    sizeof((const struct member[]) { __VA_ARGS__ }) / sizeof(struct member))

static int array_of(int type, unsigned int count)
{
	return require_id(btf__add_array(kernel, word_id, type, count));
}

static void make_locks(void)
{
	int raw, qspinlock, queued;

	qspinlock = MAKE(kernel, "qspinlock", 4, { "val", word_id, 0 });
	raw = MAKE(kernel, "raw_spinlock", 4, { "raw_lock", qspinlock, 0 });
	spinlock_id = require_id(btf__add_typedef(kernel, "spinlock_t",
						  MAKE(kernel, "spinlock", 4, {"rlock", raw, 0})));
	queued = MAKE(kernel, "qrwlock", 8, { "cnts", word_id, 0 });
	/* The struct has no name of its own, only that of the typedef. */
	rwlock_id = require_id(btf__add_typedef(kernel, "rwlock_t",
						MAKE(kernel, NULL, 8, { "raw_lock", queued, 0 })));
	mutex_id = MAKE(kernel, "mutex", 32, { "owner", word_id, 0 }, { "wait_lock", raw, 8 });
	rwsem_id = MAKE(kernel, "rw_semaphore", 40, {"count", word_id, 0}, {"wait_lock", raw, 24});
}

static void make_function(struct btf *btf, const char *name, const char *of, int type)
{
	int proto = require_id(btf__add_func_proto(btf, 0));

	require_id(btf__add_func_param(btf, of, type));
	require_id(btf__add_func(btf, name, BTF_FUNC_STATIC, proto));
}

static void make_kernel(void)
{
	int lockref, inode, rq, other, small, variable;

	lockref = MAKE(kernel, "lockref", 8, { "lock", spinlock_id, 0 }, { "count", word_id, 4 });
	MAKE(kernel, "dentry", 192, { "d_flags", word_id, 0 }, { "d_lockref", lockref, 64 });
	inode = MAKE(kernel, "inode", 600, {"i_lock", spinlock_id, 8}, {"i_rwsem", rwsem_id, 100});
	MAKE(kernel, "ext4_inode_info", 1000, { "i_data", word_id, 0 }, { "vfs_inode", inode, 200 },
	     { "i_tail", mutex_id, 900 });
	/* Sizes in BTF that differ from those of the objects: one is greater, the other less. */
	MAKE(kernel, "task_struct", 9000, { "alloc_lock", spinlock_id, 40 });
	MAKE(kernel, "mm_struct", 900, { "mmap_lock", rwsem_id, 40 });
	MAKE(kernel, "short_one", 64, { "lock", spinlock_id, 0 });
	MAKE(kernel, "signal_struct", 64, { "queues", array_of(spinlock_id, 4), 16 },
	     { "rw", rwlock_id, 48 });
	MAKE(kernel, "first_one", 128, { "lock", spinlock_id, 8 }, { "both", spinlock_id, 32 });
	MAKE(kernel, "second_one", 128, { "mutex", mutex_id, 64 }, { "other", spinlock_id, 32 });
	MAKE(kernel, REPEATED_NAME, 64, { "of_kernel", spinlock_id, 0 });
	rq = MAKE(kernel, "rq", 256, { "nr", word_id, 0 }, { "__lock", spinlock_id, 128 });
	MAKE(kernel, "ptdesc", 64, { "flags", word_id, 0 }, { "ptl", spinlock_id, 40 });
	MAKE(kernel, "pglist_data", 512,
	     { "zones", array_of(MAKE(kernel, "zone", 128, { "lock", spinlock_id, 16 }), 4), 0 });
	MAKE(kernel, "per_cpu_pages", 64, { "lock", spinlock_id, 0 });
	MAKE(kernel, "wait_queue_head", 24, { "lock", spinlock_id, 0 });
	MAKE(kernel, "rcu_state", 128, { "lock", spinlock_id, 64 });
	MAKE(kernel, "worker_pool", 180, { "lock", spinlock_id, 16 });
	other = MAKE(kernel, "unknown_thing", 150, { "lock", spinlock_id, 16 });
	MAKE(kernel, "unlikely_thing", 150, { "lock", spinlock_id, 24 });
	make_function(kernel, "use_thing", "thing", require_id(btf__add_ptr(kernel, other)));
	small = MAKE(kernel, "small_thing", 20, { "lock", spinlock_id, 4 });
	make_function(kernel, "use_small", "thing", require_id(btf__add_ptr(kernel, small)));
	variable = require_id(btf__add_var(kernel, "runqueues", BTF_VAR_GLOBAL_ALLOCATED, rq));
	require_id(btf__add_datasec(kernel, ".data..percpu", 0x1000));
	require_id(btf__add_datasec_var_info(kernel, variable, 0x100, 256));
}

static void make_module(struct btf *module)
{
	MAKE(module, "driver_state", 400, { "words", word_id, 0 }, { "mutex", mutex_id, 32 });
}

static void make_many(struct btf *module)
{
	char name[32];
	int i;

	MAKE(module, REPEATED_NAME, 64, { "of_module", spinlock_id, 0 });
	for (i = 0; i < MANY_TYPES_COUNT; i++) {
		snprintf(name, sizeof(name), "type_%d", i);
		require_id(btf__add_struct(module, name, 0));
	}
}

static void write_to(const char *directory, const char *name, const struct btf *btf)
{
	char path[4096];
	const void *data;
	FILE *stream;
	__u32 size;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	stream = fopen(path, "w");
	data = btf__raw_data(btf, &size);
	if (!stream || !data || fwrite(data, size, 1, stream) != 1 || fclose(stream)) {
		perror(path);
		exit(1);
	}
}

static void write_module(const char *directory, const char *name, void (*make)(struct btf *module))
{
	struct btf *module = btf__new_empty_split(kernel);

	make(module);
	write_to(directory, name, module);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2)
		return 2;
	kernel = btf__new_empty();
	word_id = require_id(btf__add_int(kernel, "unsigned int", 4, 0));
	make_locks();
	make_kernel();
	write_to(argv[1], "vmlinux", kernel);
	write_module(argv[1], "driver", make_module);
	for (i = 2; i < argc; i++)
		write_module(argv[1], argv[i], make_many);
	return 0;
}
