/* The loop of hits.c in two threads, half of the turns in each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int half;
static pthread_barrier_t both;

static void *turn(void *result) {
    int total = 0;
    pthread_barrier_wait(&both);
    for (int i = 0; i < half; i++) {
        total += i & 15; /* body */
    }
    *(int *)result = total;
    return NULL;
}

int main(int argc, char **argv) {
    int totals[2];
    pthread_t threads[2];
    half = (argc > 1 ? atoi(argv[1]) : 1000) / 2; /* begin */
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, turn, &totals[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", totals[0] + totals[1]); /* end */
    return 0;
}
