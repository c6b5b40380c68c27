/* The mail server personality of Filebench (varmail): threads delete mails, write new ones, read and
   answer them, and make every write durable with fsync.
   Published and here: 1,000 files of 16 KiB on average, 80 % of them there, 16 threads, appends of
   16 KiB on average. */
#include "fileset.h"

static struct fileset set;
static uint64_t until, seed, append_mean, loops;

static void *serve(void *argument)
{
	uint64_t draws = seed * 1000 + (uintptr_t)argument;
	char path[64], *buffer = calloc(1, LARGEST);
	while (now_ns() < until) {
		int file = fileset_take(&set, 1);
		if (file >= 0) {
			name_of(path, sizeof path, (unsigned)file);
			must(unlink(path), "unlink");
			fileset_give(&set, file, 0);
		}
		if ((file = fileset_take(&set, 0)) >= 0) {
			int fd = fileset_open(file, O_CREAT | O_WRONLY);
			append(fd, buffer, &draws, append_mean);
			must(fsync(fd), "fsync");
			must(close(fd), "close");
			fileset_give(&set, file, 1);
		}
		if ((file = fileset_take(&set, 1)) >= 0) {
			int fd = fileset_open(file, O_RDWR);
			read_whole(fd, buffer);
			append(fd, buffer, &draws, append_mean);
			must(fsync(fd), "fsync");
			must(close(fd), "close");
			fileset_give(&set, file, 1);
		}
		if ((file = fileset_take(&set, 1)) >= 0) {
			int fd = fileset_open(file, O_RDONLY);
			read_whole(fd, buffer);
			must(close(fd), "close");
			fileset_give(&set, file, 1);
		}
		__atomic_add_fetch(&loops, 1, __ATOMIC_RELAXED);
	}
	free(buffer);
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"ms", "files", "size", "append", "threads", "seed", NULL};
	only_options(argc, argv, names);
	seed = option(argc, argv, "seed", 1);
	append_mean = option(argc, argv, "append", 16 << 10);
	fileset_make(&set, option(argc, argv, "files", 1000), option(argc, argv, "size", 16 << 10), 80,
		     seed);
	fileset_warm(&set);
	mark("begin");
	until = now_ns() + option(argc, argv, "ms", 100) * 1000000;
	run_threads(option(argc, argv, "threads", 16), serve);
	mark("end");
	printf("mailserver: %lu loops\n", (unsigned long)loops);
	return 0;
}
