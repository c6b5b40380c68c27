/* Two threads that wait for each other's lock. */
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused)
{
	pthread_mutex_lock(&b);
	sched_yield();
	pthread_mutex_lock(&a);
	return unused;
}

int main(void)
{
	pthread_t thread;
	pthread_mutex_lock(&a);
	pthread_create(&thread, NULL, other, NULL);
	sched_yield();
	pthread_mutex_lock(&b);
	pthread_join(thread, NULL);
	return 0;
}
