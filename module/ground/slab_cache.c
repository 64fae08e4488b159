// SPDX-License-Identifier: GPL-2.0-only

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "slab_cache.h"

/* Object size and name of the cache that is created at load and searched for the offsets. */
#define NTKLOG_KNOWN_SIZE	200
#define NTKLOG_KNOWN_NAME	"ntklog_identity"

#define NTKLOG_SEARCHED_WORDS	48

unsigned int ntklog_slab_cache_word_index;

/* Found at module load; 0 if not found. */
static unsigned int ntklog_cache_name_word_index;
static unsigned int ntklog_cache_size_offset;

/* Unlike __get_kernel_nofault(), get_kernel_nofault() refuses user addresses. */
static bool ntklog_read_kernel_word(unsigned long address, unsigned long *word)
{
	return !get_kernel_nofault(*word, (unsigned long *)address);
}

static bool ntklog_read_kernel_u32(unsigned long address, u32 *value_read)
{
	return !get_kernel_nofault(*value_read, (u32 *)address);
}

static bool ntklog_read_kernel_name(unsigned long address, char name[NTKLOG_CACHE_NAME_SIZE])
{
	unsigned int i;

	for (i = 0; i < NTKLOG_CACHE_NAME_SIZE; i++) {
		if (get_kernel_nofault(name[i], (char *)(address + i)))
			return false;
		if (!name[i])
			return i;
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	}
	return false;
}

/**
 * ntklog_describe_cache() - read the name and the sizes of a slab cache
 * @cache: address of the struct kmem_cache, which may have been destroyed and its memory reused
 * @size: set to the size of an object with its metadata, in bytes; 0 if it cannot be read
 * @object_size: set to the size of an object, in bytes; 0 if it cannot be read
 * @name: set to the name; "-" if it cannot be read
 *
 * Context: any.
 */
void ntklog_describe_cache(unsigned long cache, u32 *size, u32 *object_size,
			   char name[NTKLOG_CACHE_NAME_SIZE])
{
	unsigned long address;

	if (!ntklog_cache_size_offset ||
	    !ntklog_read_kernel_u32(cache + ntklog_cache_size_offset, size) ||
	    !ntklog_read_kernel_u32(cache + ntklog_cache_size_offset + sizeof(u32), object_size)) {
		*size = 0;
		*object_size = 0;
	}
	if (!ntklog_cache_name_word_index ||
	    !ntklog_read_kernel_word(cache + ntklog_cache_name_word_index * sizeof(long),
				     &address) ||
	    !ntklog_read_kernel_name(address, name))
		strscpy(name, "-", NTKLOG_CACHE_NAME_SIZE);
}

/* A cache with a constructor is not merged with another cache of the same size. */
static void __init ntklog_construct_nothing(void *object)
{
}

static void __init ntklog_find_cache_members(unsigned long cache)
{
	char name[NTKLOG_CACHE_NAME_SIZE];
	unsigned long word;
	u32 size, object_size;
	unsigned int i;

	for (i = 0; i < NTKLOG_SEARCHED_WORDS; i++)
		if (!ntklog_cache_name_word_index && i &&
		    ntklog_read_kernel_word(cache + i * sizeof(long), &word) &&
		    ntklog_read_kernel_name(word, name) && !strcmp(name, NTKLOG_KNOWN_NAME))
			ntklog_cache_name_word_index = i;
	/* The member "size" is before "object_size", whose value is known. */
	for (i = sizeof(u32); i < NTKLOG_SEARCHED_WORDS * sizeof(long); i += sizeof(u32))
		if (!ntklog_cache_size_offset && ntklog_read_kernel_u32(cache + i, &size) &&
		    ntklog_read_kernel_u32(cache + i + sizeof(u32), &object_size) &&
		    object_size == NTKLOG_KNOWN_SIZE && size > object_size && size < PAGE_SIZE)
			ntklog_cache_size_offset = i;
}

/**
 * ntklog_slab_cache_init() - find the offsets of members of struct slab and struct kmem_cache
 *
 * Context: module load.
 */
void __init ntklog_slab_cache_init(void)
{
	struct kmem_cache *cache;
	struct page *page;
	unsigned int i;
	void *object;

	cache = kmem_cache_create(NTKLOG_KNOWN_NAME, NTKLOG_KNOWN_SIZE, 0, 0,
				  ntklog_construct_nothing);
	object = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;
	if (object) {
		page = virt_to_head_page(object);
		for (i = 1; PageSlab(page) && i < sizeof(*page) / sizeof(long); i++)
			if (((unsigned long *)page)[i] == (unsigned long)cache)
				ntklog_slab_cache_word_index = i;
		ntklog_find_cache_members((unsigned long)cache);
		kmem_cache_free(cache, object);
	}
	kmem_cache_destroy(cache);
	if (!ntklog_slab_cache_word_index)
		pr_info("the structures that locks lie in cannot be found on this kernel: locks have no classes\n");
	else if (!ntklog_cache_name_word_index || !ntklog_cache_size_offset)
		pr_info("the names of slab caches cannot be read on this kernel: classes of locks are less exact\n");
}
