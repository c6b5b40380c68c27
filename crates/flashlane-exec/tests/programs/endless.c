/* Never ends: it computes, or sleeps with an argument. */
#include <time.h>

int main(int argc, char **argv)
{
	(void)argv;
	for (volatile unsigned long i = 0;; i++) {
		struct timespec second = {1, 0};
		if (argc > 1)
			nanosleep(&second, NULL);
	}
}
