/* The phases of IOzone on one large file: write, rewrite, read, reread, random read, random write, over
   and over until the time is up; asynchronous and past the page cache, `depth` records at a time. */
#include "common.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>

#define DEEPEST 1024

static const char *const phases[] = {
	"write", "rewrite", "read", "reread", "random read", "random write",
};

int main(int argc, char **argv)
{
	static const char *const names[] = {"ms", "file", "record", "depth", "seed", "first", NULL};
	only_options(argc, argv, names);
	uint64_t draws = option(argc, argv, "seed", 1);
	uint64_t size = option(argc, argv, "file", 256 << 20);
	uint64_t record = option(argc, argv, "record", 64 << 10);
	uint64_t depth = option(argc, argv, "depth", 64);
	unsigned phase = option(argc, argv, "first", 0) % 6;
	uint64_t records = size / record, done = 0;
	if (depth < 1 || depth > DEEPEST || records == 0) {
		fprintf(stderr, "depth: allowed: 1 to %d; record: at most the file\n", DEEPEST);
		return 2;
	}
	int fd = must(open("/large", O_CREAT | O_RDWR | O_DIRECT, 0644), "open");
	if (posix_fallocate(fd, 0, (off_t)size) != 0)
		fail("posix_fallocate");
	aio_context_t context = 0;
	must(syscall(SYS_io_setup, depth, &context), "io_setup");
	static struct iocb requests[DEEPEST];
	static struct io_event events[DEEPEST];
	char *buffers = aligned_alloc(4096, depth * record);
	memset(buffers, 'z', depth * record);
	unsigned idle[DEEPEST], free_count = 0, finished[6] = {0};
	while (free_count < depth)
		idle[free_count] = free_count, free_count++;
	mark("begin");
	uint64_t until = now_ns() + option(argc, argv, "ms", 100) * 1000000;
	while (now_ns() < until) {
		int writes = phase == 0 || phase == 1 || phase == 5, random = phase >= 4;
		uint64_t next = 0;
		while ((next < records || free_count < depth)) {
			int stop = now_ns() >= until;
			while (free_count > 0 && next < records && !stop) {
				unsigned slot = idle[--free_count];
				uint64_t at = random ? below(&draws, records) : next;
				struct iocb *one = &requests[slot];
				memset(one, 0, sizeof *one);
				one->aio_data = slot;
				one->aio_lio_opcode = writes ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
				one->aio_fildes = (uint32_t)fd;
				one->aio_buf = (uintptr_t)(buffers + slot * record);
				one->aio_nbytes = record;
				one->aio_offset = (int64_t)(at * record);
				must(syscall(SYS_io_submit, context, 1, &one), "io_submit");
				next++;
			}
			if (free_count == depth)
				break;
			long count = must(syscall(SYS_io_getevents, context, 1, depth, events, NULL),
					  "io_getevents");
			for (long i = 0; i < count; i++) {
				if (events[i].res != (int64_t)record) {
					fprintf(stderr, "a record of %ld bytes\n", (long)events[i].res);
					return 1;
				}
				idle[free_count++] = (unsigned)events[i].data;
				done++;
			}
		}
		if (next == records)
			finished[phase]++;
		phase = (phase + 1) % 6;
	}
	mark("end");
	printf("iozone: %lu records;", (unsigned long)done);
	for (int i = 0; i < 6; i++)
		printf(" %s %u", phases[i], finished[i]);
	printf("\n");
	return 0;
}
