// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"
#include "report_rows.h"

static struct flame_node *find_or_add_callee(struct flame_node *caller, const char *name)
{
	size_t size = strlen(name) + 1;
	struct flame_node *callee;

	HASH_FIND_STR(caller->callees, name, callee);
	if (callee)
		return callee;
	callee = calloc(1, sizeof(*callee) + size);
	if (!callee)
		return NULL;
	memcpy(callee->name, name, size);
	HASH_ADD_STR(caller->callees, name, callee);
	if (callee->hh.tbl)
		return callee;
	free(callee);
	return NULL;
}

static void add_sum(struct flame_node *flame, const double ns[FLAME_KINDS], uint64_t sample_count)
{
	unsigned int i;

	for (i = 0; i < FLAME_KINDS; i++)
		flame->ns[i] += ns[i];
	flame->sample_count += sample_count;
}

/* Add a sum to the callee @name. Returns the callee, or NULL without memory. */
static struct flame_node *add_to_callee(struct flame_node *flame, char *name,
					const double ns[FLAME_KINDS], uint64_t sample_count)
{
	char *at;

	/* ";" separates the functions of folded stacks. */
	while ((at = strchr(name, ';')))
		*at = ':';
	flame = find_or_add_callee(flame, name);
	if (flame)
		add_sum(flame, ns, sample_count);
	return flame;
}

/*
 * Add a stack: the functions of @entry, below the attribute of --by, if that splits the stacks.
 * @entry is NULL for the stacks that have no entry.
 */
static bool add_stack(struct flame_node *root, const struct report *report,
		      const struct stack_entry *entry, const char *attribute_label,
		      const struct stack_sum *sum)
{
	const double ns[FLAME_KINDS] = {
		[FLAME_WAIT] = etl_cycles_ns(report->file, sum->wait_sum),
		[FLAME_HOLD] = etl_cycles_ns(report->file, sum->hold_sum),
		[FLAME_CHARGED] = report_ticks_ns(report, sum->charged_ticks),
	};
	size_t count = entry ? entry->address_count : 0;
	struct flame_node *flame = root;
	char name[NAME_SIZE], *label;
	unsigned int i;

	if (!sum->record_count && sum->charged_ticks <= 0)
		return true;
	add_sum(flame, ns, sum->record_count);
	if (attribute_label) {
		label = strdup(attribute_label);
		flame = label ? add_to_callee(flame, label, ns, sum->record_count) : NULL;
		free(label);
	}
	if (!count && flame) {
		snprintf(name, sizeof(name), entry ? "(no stack)" : "(other stacks)");
		flame = add_to_callee(flame, name, ns, sum->record_count);
	}
	while (count && flame) {
		names_format_function(report->names, entry->key.addresses[--count], name,
				      sizeof(name));
		flame = add_to_callee(flame, name, ns, sum->record_count);
	}
	for (i = 0; flame && i < FLAME_KINDS; i++)
		flame->own_ns[i] += ns[i];
	return flame;
}

static int compare_names(const struct flame_node *a, const struct flame_node *b)
{
	return strcmp(a->name, b->name);
}

/* Sort by names: the order of a hash table may differ between runs of the program. */
static void sort_callees(struct flame_node *flame)
{
	struct flame_node *callee;

	HASH_SORT(flame->callees, compare_names);
	for (callee = flame->callees; callee; callee = callee->hh.next)
		sort_callees(callee);
}

/**
 * flame_make_tree() - make the tree of all stacks, or of those of a lock
 * @root: root of the tree, all zero; the caller must use flame_free() even after a failure
 * @report: report with its file, analysis and names
 * @lock: the lock, for which the analysis has its lock_stacks; NULL: all locks
 *
 * Return: true, or false if there was no memory for all stacks.
 */
bool flame_make_tree(struct flame_node *root, const struct report *report,
		     const struct charged_class_key *lock)
{
	const struct analysis *analysis = report->analysis;
	const struct stack_stats *stats = lock ? &analysis->lock_stacks : &analysis->stacks;
	const struct stack_entry *entry;
	bool is_split = !lock && analysis->split_sums, is_complete = true;
	uint64_t number;

	for (entry = stats->stacks; entry; entry = entry->hh.next) {
		if (lock && memcmp(&entry->key.lock, lock, sizeof(*lock)))
			continue;
		number = entry->key.attribute_number;
		is_complete &= add_stack(root, report, entry, is_split ?
					 report_label_text(report_split_pair(report,
									     number).label) :
					 NULL, &entry->sum);
	}
	if (!lock)
		is_complete &= add_stack(root, report, NULL,
					 is_split ? report_label_text(NULL) : NULL,
					 &stats->others);
	sort_callees(root);
	return is_complete;
}

/* Print the callees of a function. @path has the functions above them, of @length bytes. */
static void print_folded(const struct flame_node *flame, enum flame_kind flame_kind, FILE *stream,
			 char **path, size_t *path_size, size_t length)
{
	const struct flame_node *callee;
	size_t needed_size;

	for (callee = flame->callees; callee; callee = callee->hh.next) {
		needed_size = length + strlen(callee->name) + 2;
		if (needed_size > *path_size) {
			char *more = realloc(*path, 2 * needed_size);

			if (!more)
				return;
			*path = more;
			*path_size = 2 * needed_size;
		}
		sprintf(*path + length, "%s%s", length ? ";" : "", callee->name);
		if (llround(callee->own_ns[flame_kind]))
			fprintf(stream, "%s %lld\n", *path, llround(callee->own_ns[flame_kind]));
		print_folded(callee, flame_kind, stream, path, path_size,
			     length + strlen(*path + length));
	}
}

/**
 * flame_print_folded() - print folded stacks, which flame graph tools read
 * @root: tree from flame_make_tree()
 * @flame_kind: sum to print, in nanoseconds
 * @stream: stream to print to
 *
 * A line has the functions of a stack from the outermost on, separated by ";", and a number. A
 * stack whose sum rounds to 0 has no line.
 */
void flame_print_folded(const struct flame_node *root, enum flame_kind flame_kind, FILE *stream)
{
	char *path = NULL;
	size_t path_size = 0;

	print_folded(root, flame_kind, stream, &path, &path_size, 0);
	free(path);
}

/**
 * flame_free() - free all callees of a root
 * @root: root of a tree from flame_make_tree()
 */
void flame_free(struct flame_node *root)
{
	struct flame_node *callee;

	while ((callee = hash_take_first(root->callees))) {
		flame_free(callee);
		free(callee);
	}
}
