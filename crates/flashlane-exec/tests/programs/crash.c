/* Reads 4 KiB, then writes to a place that it may not write to. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char buffer[4096];
	int fd = open("/a", O_CREAT | O_RDWR, 0644);
	printf("before the crash\n");
	fflush(stdout);
	read(fd, buffer, sizeof buffer);
	*(volatile int *)16 = 1;
	return 0;
}
