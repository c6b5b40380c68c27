/* The web server personality of Filebench: threads read ten whole files, then append to a log that all
   of them share.
   Published and here: 1,000 files of 16 KiB on average, 100 threads, appends of 16 KiB on average. */
#include "fileset.h"

static struct fileset set;
static uint64_t until, seed, append_mean, loops;
static int log_fd;

static void *serve(void *argument)
{
	uint64_t draws = seed * 1000 + (uintptr_t)argument;
	char *buffer = calloc(1, LARGEST);
	while (now_ns() < until) {
		for (int i = 0; i < 10; i++) {
			int fd = fileset_open((int)below(&draws, set.count), O_RDONLY);
			read_whole(fd, buffer);
			must(close(fd), "close");
		}
		must(write(log_fd, buffer, 1 + below(&draws, 2 * append_mean - 1)), "write");
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
	fileset_make(&set, option(argc, argv, "files", 1000), option(argc, argv, "size", 16 << 10), 100,
		     seed);
	log_fd = must(open("/log", O_CREAT | O_WRONLY | O_APPEND, 0644), "open");
	fileset_warm(&set);
	mark("begin");
	until = now_ns() + option(argc, argv, "ms", 100) * 1000000;
	run_threads(option(argc, argv, "threads", 100), serve);
	mark("end");
	printf("webserver: %lu loops\n", (unsigned long)loops);
	return 0;
}
