/* Writes files of different lifetimes, which it names by hints. */
#include "common.h"

#define F_GET 1035
#define F_SET 1036

static void file(const char *path, uint64_t hint, unsigned blocks, int direct)
{
	static _Alignas(4096) char block[4096];
	uint64_t told = 9;
	int fd = open(path, O_CREAT | O_RDWR | (direct ? O_DIRECT : 0), 0644);
	if (fd < 0 || fcntl(fd, F_GET, &told) != 0 || told != 0)
		exit(1);
	if (hint != 0 && fcntl(fd, F_SET, &hint) != 0)
		exit(2);
	for (unsigned at = 0; at < blocks; at++)
		if (pwrite(fd, block, sizeof block, (off_t)at * 4096) != sizeof block)
			exit(3);
	if (fsync(fd) != 0 || fcntl(fd, F_GET, &told) != 0 || told != hint)
		exit(4);
	close(fd);
}

int main(void)
{
	uint64_t wrong = 6;
	file("/short", 2, 10, 1);
	file("/extreme", 5, 20, 0);
	file("/long", 4, 30, 1);
	file("/silent", 0, 40, 1);
	int fd = open("/short", O_RDWR);
	if (fcntl(fd, F_SET, &wrong) == 0 || fcntl(77, F_SET, &wrong) == 0 || fcntl(fd, F_SET, 8) == 0)
		exit(5);
	return 0;
}
