/* Threads that wait, as most threads do most of the time. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t all_there;

static void *wait_for_ever(void *unused) {
    (void)unused;
    pthread_barrier_wait(&all_there);
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 500;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    for (int i = 1; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, wait_for_ever, NULL))
            return 1;
    }
    pthread_barrier_wait(&all_there);
    for (;;) /* begin */
        pause();
}
