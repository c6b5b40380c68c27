/* Makes a system call that there is not, or is not supported. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	return syscall(argc > 1 ? atoi(argv[1]) : 499, 0, 0, 0);
}
