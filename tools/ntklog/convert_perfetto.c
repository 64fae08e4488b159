// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chrome's trace events: for each processor a track of the spin locks waited for and
 * owned and one of the threads that ran, for each thread one of its resources.
 */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <ntklog/wmi_resource.h>

#include "convert.h"
#include "message.h"
#include "wmi_record.h"

/* The tracks' groups, which are processes to the viewer. */
enum {
	GROUP_SPINLOCKS = 1,
	GROUP_RESOURCES,
	GROUP_THREADS,
};

/*
 * @stream: where to
 * @conversion: of the trace
 * @first: nothing has been written
 * @running: by processor: who, 0: nobody known; and since when, microseconds
 */
struct perfetto {
	FILE *stream;
	struct conversion *conversion;
	bool first;
	struct {
		uint32_t thread_id;
		double since;
	} running[UINT16_MAX + 1];
};

static void put(struct perfetto *perfetto, json_t *object)
{
	fputs(perfetto->first ? "\n" : ",\n", perfetto->stream);
	perfetto->first = false;
	json_dumpf(object, perfetto->stream, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(object);
}

static void put_group(struct perfetto *perfetto, int group, const char *name)
{
	put(perfetto, json_pack("{s:s, s:s, s:i, s:{s:s}}", "ph", "M", "name",
				"process_name", "pid", group, "args", "name", name));
}

/* A slice of a track, from and for so many microseconds; takes @arguments. */
static void put_slice(struct perfetto *perfetto, int group, uint32_t track,
		      const char *category, const char *name, double from, double lasts,
		      json_t *arguments)
{
	put(perfetto, json_pack("{s:s, s:s, s:s, s:i, s:I, s:f, s:f, s:o}", "ph", "X", "cat",
				category, "name", name, "pid", group, "tid",
				(json_int_t)track, "ts", from, "dur", lasts, "args",
				arguments));
}

static double event_us(const struct perfetto *perfetto, const struct etl_event *event)
{
	return 1e6 * etl_seconds(perfetto->conversion->file, event->time_stamp);
}

static double cycles_us(const struct perfetto *perfetto, uint64_t cycles)
{
	return etl_cycles_ns(perfetto->conversion->file, (double)cycles) / 1e3;
}

static void put_spinlock(struct perfetto *perfetto, const struct etl_event *event)
{
	const struct names *names = perfetto->conversion->names;
	char lock[NAME_SIZE], caller[NAME_SIZE], waits[NAME_SIZE + 8];
	struct spinlock_record record;
	double hold, wait, end = event_us(perfetto, event);

	spinlock_record_read(&record, event);
	names_address(names, record.lock, lock, sizeof(lock));
	names_address(names, record.caller, caller, sizeof(caller));
	hold = record.release_time > record.acquire_time ?
		cycles_us(perfetto, record.release_time - record.acquire_time) : 0;
	wait = cycles_us(perfetto, record.wait_time);
	snprintf(waits, sizeof(waits), "wait: %s", lock);
	if (record.spin_count)
		put_slice(perfetto, GROUP_SPINLOCKS, event->processor, "wait", waits,
			  end - hold - wait, wait,
			  json_pack("{s:I}", "spins", (json_int_t)record.spin_count));
	put_slice(perfetto, GROUP_SPINLOCKS, event->processor, "hold", lock, end - hold, hold,
		  json_pack("{s:s, s:I, s:i, s:b, s:b}", "caller", caller, "thread",
			    (json_int_t)record.thread_id, "depth", record.depth, "dpc",
			    record.dpc, "isr", record.isr));
}

static void put_resource(struct perfetto *perfetto, const struct etl_event *event)
{
	double hold, wait, end = event_us(perfetto, event);
	const char *class = "exclusive";
	struct resource_record record;
	char name[NAME_SIZE], waits[NAME_SIZE + 8];

	resource_record_read(&record, event);
	if (record.action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED)
		class = "shared";
	else if (record.action != WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE)
		return;
	names_address(perfetto->conversion->names, record.resource, name, sizeof(name));
	hold = cycles_us(perfetto, record.hold_time);
	wait = record.wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN ?
		cycles_us(perfetto, record.wait_time) : 0;
	snprintf(waits, sizeof(waits), "wait: %s", name);
	if (wait > 0 && record.hold_time)
		put_slice(perfetto, GROUP_RESOURCES, record.thread_id, "wait", waits,
			  end - hold - wait, wait, json_pack("{s:s}", "class", class));
	put_slice(perfetto, GROUP_RESOURCES, record.thread_id, "hold", name, end - hold, hold,
		  json_pack("{s:s, s:I}", "class", class, "contention",
			    (json_int_t)record.contention_delta));
}

static void put_switch(struct perfetto *perfetto, const struct etl_event *event)
{
	double now = event_us(perfetto, event);
	struct contextswap_record record;
	const char *name;
	char text[64];

	contextswap_record_read(&record, event);
	if (record.old_thread_id &&
	    perfetto->running[event->processor].thread_id == record.old_thread_id) {
		double since = perfetto->running[event->processor].since;

		name = names_thread(perfetto->conversion->names, record.old_thread_id);
		snprintf(text, sizeof(text), "%s %u", name ? name : "thread",
			 record.old_thread_id);
		put_slice(perfetto, GROUP_THREADS, event->processor, "run", text, since,
			  now - since,
			  json_pack("{s:i, s:i}", "state", record.old_thread_state,
				    "wait_reason", record.old_thread_wait_reason));
	}
	perfetto->running[event->processor].thread_id = record.new_thread_id;
	perfetto->running[event->processor].since = now;
}

/**
 * convert_to_perfetto() - write Chrome's trace events
 * @conversion: of the trace
 * @path: of the file; "-" is the standard output
 *
 * Return: 0, or -1 after a message.
 */
int convert_to_perfetto(struct conversion *conversion, const char *path)
{
	static struct perfetto perfetto;
	const struct event_type *type;
	struct etl_event event;
	int err;

	perfetto.conversion = conversion;
	perfetto.first = true;
	perfetto.stream = strcmp(path, "-") ? fopen(path, "w") : stdout;
	if (!perfetto.stream) {
		message("%s: %s", path, strerror(errno));
		return -1;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", perfetto.stream);
	put_group(&perfetto, GROUP_SPINLOCKS, "spin locks, by processor");
	put_group(&perfetto, GROUP_RESOURCES, "resources, by thread");
	put_group(&perfetto, GROUP_THREADS, "threads, by processor");
	while (!ferror(perfetto.stream) && conversion_next(conversion, &event, &type)) {
		if (event.hook_id == PERFINFO_LOG_TYPE_SPINLOCK)
			put_spinlock(&perfetto, &event);
		else if (event.hook_id == PERFINFO_LOG_TYPE_RESOURCE)
			put_resource(&perfetto, &event);
		else if (event.hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP)
			put_switch(&perfetto, &event);
	}
	fputs("\n]}\n", perfetto.stream);
	err = finish_output(perfetto.stream, path);
	if (perfetto.stream != stdout)
		fclose(perfetto.stream);
	return err;
}
