/* What the programs share: arguments, time, random numbers, sizes, errors, marks. */
#ifndef COMMON_H
#define COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Ends the program with a message that names what failed. */
static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Fails where a call returned a negative number. */
static inline long must(long result, const char *what)
{
	if (result < 0)
		fail(what);
	return result;
}

/* The number of an argument "name=number", with k and m for KiB and MiB. */
static inline uint64_t option(int argc, char **argv, const char *name, uint64_t standard)
{
	size_t length = strlen(name);
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], name, length) != 0 || argv[i][length] != '=')
			continue;
		char *end;
		uint64_t value = strtoull(argv[i] + length + 1, &end, 10);
		if (*end == 'k')
			value <<= 10, end++;
		else if (*end == 'm')
			value <<= 20, end++;
		if (*end != 0) {
			fprintf(stderr, "%s: found %s, allowed: a number\n", name, argv[i]);
			exit(2);
		}
		return value;
	}
	return standard;
}

/* Refuses arguments whose names are not in a list that ends with NULL. */
static inline void only_options(int argc, char **argv, const char *const *names)
{
	for (int i = 1; i < argc; i++) {
		int known = 0;
		for (const char *const *name = names; *name; name++) {
			size_t length = strlen(*name);
			known |= strncmp(argv[i], *name, length) == 0 && argv[i][length] == '=';
		}
		if (!known) {
			fprintf(stderr, "unknown argument %s\n", argv[i]);
			exit(2);
		}
	}
}

/* Time from the start. Unit: nanoseconds. */
static inline uint64_t now_ns(void)
{
	struct timespec t;
	must(clock_gettime(CLOCK_MONOTONIC, &t), "clock_gettime");
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Begins or ends the measured part: "begin" waits for the other programs. */
static inline void mark(const char *which)
{
	char path[32];
	snprintf(path, sizeof path, "/flashlane/%s", which);
	int fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
}

/* A random number; the state is 64 bits. (Weyl sequence with a mixing step.) */
static inline uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A random number below a bound. */
static inline uint64_t below(uint64_t *state, uint64_t bound)
{
	return draw(state) % bound;
}

/* A random number between 0 and 1, never 0. */
static inline double unit(uint64_t *state)
{
	return ((draw(state) >> 11) + 1) * (1.0 / 9007199254740993.0);
}

/* A size with a gamma distribution of shape 1.5, as Filebench draws sizes of files. */
static inline uint64_t gamma_size(uint64_t *state, uint64_t mean, uint64_t most)
{
	double z = sqrt(-2.0 * log(unit(state))) * cos(6.283185307179586 * unit(state));
	double drawn = (-log(unit(state)) + 0.5 * z * z) / 1.5 * (double)mean;
	if (drawn > (double)most)
		return most;
	return drawn < 1.0 ? 1 : (uint64_t)drawn;
}

/* Starts threads of a function and waits for all of them. */
static inline void run_threads(unsigned count, void *(*work)(void *))
{
	pthread_t *threads = calloc(count, sizeof *threads);
	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
			fail("pthread_create");
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

#endif
