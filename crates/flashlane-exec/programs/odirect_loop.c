/* Reads 4 KiB past the page cache, one after the other, at random places of a file. */
#include "common.h"

int main(int argc, char **argv)
{
	static const char *const names[] = {"reads", "file", "seed", NULL};
	only_options(argc, argv, names);
	uint64_t reads = option(argc, argv, "reads", 1000);
	uint64_t pages = option(argc, argv, "file", 16 << 20) / 4096;
	uint64_t draws = option(argc, argv, "seed", 1);
	char *buffer = aligned_alloc(4096, 4096);
	int fd = must(open("/data", O_CREAT | O_RDWR | O_DIRECT, 0644), "open");
	if (posix_fallocate(fd, 0, (off_t)(pages * 4096)) != 0)
		fail("posix_fallocate");
	mark("begin");
	uint64_t start = now_ns();
	for (uint64_t i = 0; i < reads; i++) {
		off_t at = (off_t)(below(&draws, pages) * 4096);
		if (must(pread(fd, buffer, 4096, at), "pread") != 4096)
			fail("a short read");
	}
	uint64_t end = now_ns();
	mark("end");
	printf("%lu reads in %lu ns\n", (unsigned long)reads, (unsigned long)(end - start));
	return 0;
}
