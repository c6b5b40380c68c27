/* A set of files that threads create, read and delete, as Filebench has it. */
#ifndef FILESET_H
#define FILESET_H

#include "common.h"

#define LARGEST (1u << 20)

struct fileset {
	pthread_mutex_t lock;
	unsigned count;
	/* 0: absent, 1: there, 2: somebody works with it. */
	unsigned char *state;
	uint64_t state_of_draws;
};

static inline void name_of(char *path, size_t size, unsigned file)
{
	snprintf(path, size, "/set/%03u/%05u", file / 100, file);
}

/* Makes the files that are there at the start: they have room on the drive at once. */
static inline void fileset_make(struct fileset *set, unsigned count, uint64_t mean,
				unsigned there_percent, uint64_t seed)
{
	char path[64];
	pthread_mutex_init(&set->lock, NULL);
	set->count = count;
	set->state = calloc(count, 1);
	set->state_of_draws = seed;
	must(mkdir("/set", 0755), "mkdir");
	for (unsigned file = 0; file < count; file++) {
		if (file % 100 == 0) {
			snprintf(path, sizeof path, "/set/%03u", file / 100);
			must(mkdir(path, 0755), "mkdir");
		}
		if (below(&set->state_of_draws, 100) >= there_percent)
			continue;
		name_of(path, sizeof path, file);
		int fd = must(open(path, O_CREAT | O_WRONLY, 0644), "create");
		if (posix_fallocate(fd, 0, gamma_size(&set->state_of_draws, mean, LARGEST)) != 0)
			fail("posix_fallocate");
		must(close(fd), "close");
		set->state[file] = 1;
	}
}

/* Picks a random file that is there (or is absent) and takes it; -1: there is none. */
static inline int fileset_take(struct fileset *set, int there)
{
	pthread_mutex_lock(&set->lock);
	unsigned start = below(&set->state_of_draws, set->count);
	int found = -1;
	for (unsigned i = 0; i < set->count && found < 0; i++) {
		unsigned file = (start + i) % set->count;
		if (set->state[file] == there) {
			set->state[file] = 2;
			found = (int)file;
		}
	}
	pthread_mutex_unlock(&set->lock);
	return found;
}

/* Gives a file back. */
static inline void fileset_give(struct fileset *set, int file, int there)
{
	pthread_mutex_lock(&set->lock);
	set->state[file] = there;
	pthread_mutex_unlock(&set->lock);
}

/* Opens a file of the set. */
static inline int fileset_open(int file, int flags)
{
	char path[64];
	name_of(path, sizeof path, (unsigned)file);
	return must(open(path, flags, 0644), "open");
}

static inline void read_whole(int fd, char *buffer)
{
	while (must(read(fd, buffer, LARGEST), "read") > 0)
		;
}

/* Reads every file that is there: what was served before is in memory. */
static inline void fileset_warm(struct fileset *set)
{
	char *buffer = calloc(1, LARGEST);
	for (unsigned file = 0; file < set->count; file++) {
		if (set->state[file] != 1)
			continue;
		int fd = fileset_open((int)file, O_RDONLY);
		read_whole(fd, buffer);
		must(close(fd), "close");
	}
	free(buffer);
}

static inline void append(int fd, char *buffer, uint64_t *draws, uint64_t mean)
{
	must(lseek(fd, 0, SEEK_END), "lseek");
	must(write(fd, buffer, 1 + below(draws, 2 * mean - 1)), "write");
}

#endif
