/* The file server personality of Filebench: threads create and write whole files, append to files,
   read whole files, delete files and look at their attributes.
   Published: 10,000 files of 128 KiB on average, 80 % of them there, 50 threads, appends of 16 KiB on
   average. Here: files=625, a sixteenth; everything else as published. */
#include "fileset.h"

static struct fileset set;
static uint64_t until, seed, size_mean, append_mean, loops;

static void *serve(void *argument)
{
	uint64_t draws = seed * 1000 + (uintptr_t)argument;
	char path[64], *buffer = calloc(1, LARGEST);
	struct stat status;
	while (now_ns() < until) {
		int file = fileset_take(&set, 0);
		if (file >= 0) {
			int fd = fileset_open(file, O_CREAT | O_WRONLY);
			must(write(fd, buffer, gamma_size(&draws, size_mean, LARGEST)), "write");
			must(close(fd), "close");
			fileset_give(&set, file, 1);
		}
		if ((file = fileset_take(&set, 1)) >= 0) {
			int fd = fileset_open(file, O_WRONLY);
			append(fd, buffer, &draws, append_mean);
			must(close(fd), "close");
			fileset_give(&set, file, 1);
		}
		if ((file = fileset_take(&set, 1)) >= 0) {
			int fd = fileset_open(file, O_RDONLY);
			read_whole(fd, buffer);
			must(close(fd), "close");
			fileset_give(&set, file, 1);
		}
		if ((file = fileset_take(&set, 1)) >= 0) {
			name_of(path, sizeof path, (unsigned)file);
			must(unlink(path), "unlink");
			fileset_give(&set, file, 0);
		}
		if ((file = fileset_take(&set, 1)) >= 0) {
			name_of(path, sizeof path, (unsigned)file);
			must(stat(path, &status), "stat");
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
	size_mean = option(argc, argv, "size", 128 << 10);
	append_mean = option(argc, argv, "append", 16 << 10);
	fileset_make(&set, option(argc, argv, "files", 625), size_mean, 80, seed);
	mark("begin");
	until = now_ns() + option(argc, argv, "ms", 100) * 1000000;
	run_threads(option(argc, argv, "threads", 50), serve);
	mark("end");
	printf("fileserver: %lu loops\n", (unsigned long)loops);
	return 0;
}
