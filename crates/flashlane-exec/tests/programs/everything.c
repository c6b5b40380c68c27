/* Uses what programs use, and checks the answers: threads with locks, conditions and barriers, files
   and folders, vectors, mappings, time. */
#include "common.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define THREADS 24
#define ROUNDS 20

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                 \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static unsigned whose, sum;
static _Thread_local unsigned mine;
static int fd;

static void *work(void *argument)
{
	unsigned me = (uintptr_t)argument;
	unsigned char block[512], back[512];
	mine = me;
	for (unsigned round = 0; round < ROUNDS; round++) {
		off_t at = (off_t)((round * THREADS + me) * 512);
		memset(block, (int)(me + round), sizeof block);
		CHECK(pwrite(fd, block, sizeof block, at) == sizeof block);
		if (round % 8 == 0)
			CHECK(fdatasync(fd) == 0);
		CHECK(pread(fd, back, sizeof back, at) == sizeof back);
		CHECK(memcmp(block, back, sizeof back) == 0);
		char *heap = malloc(100 + 7 * me);
		memset(heap, (int)me, 100 + 7 * me);
		pthread_barrier_wait(&barrier);
		CHECK(heap[99] == (char)me);
		free(heap);
	}
	pthread_mutex_lock(&lock);
	while (whose != me)
		pthread_cond_wait(&turn, &lock);
	whose++;
	sum += mine;
	pthread_cond_broadcast(&turn);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void files(void)
{
	char text[16] = {0}, *volatile nowhere = (char *)8;
	CHECK(mkdir("/d", 0755) == 0);
	CHECK(mkdir("/d", 0755) < 0 && errno == EEXIST);
	int one = open("/d/one", O_CREAT | O_EXCL | O_RDWR, 0644);
	CHECK(one >= 0);
	CHECK(open("/d/one", O_CREAT | O_EXCL | O_RDWR, 0644) < 0 && errno == EEXIST);
	CHECK(open("/d/two", O_RDONLY) < 0 && errno == ENOENT);
	struct iovec pieces[2] = {{"hello ", 6}, {"world", 5}};
	CHECK(writev(one, pieces, 2) == 11);
	CHECK(lseek(one, -5, SEEK_END) == 6);
	CHECK(read(one, text, sizeof text) == 5 && strcmp(text, "world") == 0);
	CHECK(ftruncate(one, 3) == 0 && ftruncate(one, 5000) == 0);
	CHECK(pread(one, text, 5, 0) == 5 && memcmp(text, "hel\0\0", 5) == 0);
	struct stat status;
	CHECK(fstat(one, &status) == 0 && status.st_size == 5000 && S_ISREG(status.st_mode));
	CHECK(rename("/d/one", "/d/three") == 0 && stat("/d/one", &status) < 0);
	DIR *folder = opendir("/d");
	struct dirent *entry = readdir(folder);
	CHECK(entry && strcmp(entry->d_name, "three") == 0 && !readdir(folder));
	CHECK(closedir(folder) == 0);
	CHECK(rmdir("/d") < 0 && errno == ENOTEMPTY);
	CHECK(unlink("/d/three") == 0 && rmdir("/d") == 0);
	/* A file without a name lives until it is closed. */
	CHECK(pread(one, text, 3, 0) == 3 && memcmp(text, "hel", 3) == 0);
	char *map = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, one, 0);
	CHECK(map != MAP_FAILED && map[1] == 'e' && map[4999] == 0);
	map[0] = 'H';
	CHECK(munmap(map, 5000) == 0 && pread(one, text, 1, 0) == 1 && text[0] == 'H');
	CHECK(pread(one, nowhere, 512, 0) < 0 && errno == EFAULT);
	CHECK(close(one) == 0 && close(one) < 0 && errno == EBADF);
	int direct = open("/direct", O_CREAT | O_RDWR | O_DIRECT, 0644);
	CHECK(pwrite(direct, text, 3, 0) < 0 && errno == EINVAL);
	CHECK(close(direct) == 0);
}

int main(void)
{
	fd = open("/shared", O_CREAT | O_RDWR, 0644);
	CHECK(fd >= 0);
	files();
	pthread_barrier_init(&barrier, NULL, THREADS);
	run_threads(THREADS, work);
	CHECK(sum == THREADS * (THREADS - 1) / 2 && whose == THREADS);
	uint64_t before = now_ns();
	struct timespec wait = {0, 1500000}, deadline;
	CHECK(nanosleep(&wait, NULL) == 0);
	uint64_t slept = now_ns() - before;
	CHECK(slept >= 1500000 && slept < 1600000);
	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 1;
	CHECK(pthread_cond_timedwait(&turn, &lock, &deadline) == ETIMEDOUT);
	CHECK(now_ns() - before > 1000000000);
	char *big = calloc(3, 1 << 20);
	CHECK(big && big[(3 << 20) - 1] == 0);
	memset(big, 1, 3 << 20);
	free(big);
	big = calloc(3, 1 << 20);
	CHECK(big && big[12345] == 0);
	printf("everything works\n");
	return 0;
}
