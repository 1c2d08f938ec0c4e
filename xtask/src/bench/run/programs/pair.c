/* A loop as in hits.c in some threads, which share the turns. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

static int share;
static pthread_barrier_t all;

static void *turn(void *result) {
    int total = 0;
    pthread_barrier_wait(&all);
    for (int i = 0; i < share; i++) {
        total += i & 15; /* body */
    }
    *(int *)result = total;
    return NULL;
}

int main(int argc, char **argv) {
    int totals[THREADS], total = 0;
    pthread_t threads[THREADS];
    share = (argc > 1 ? atoi(argv[1]) : 1000) / THREADS; /* begin */
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, turn, &totals[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += totals[i];
    }
    printf("%d\n", total); /* end */
    return 0;
}
