/* The work of compute.c in each of some threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, ENTRIES = 4096 };

static unsigned turns;

static unsigned mix(unsigned state) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ (state << 5);
}

static void *compute(void *result) {
    static __thread unsigned table[ENTRIES];
    unsigned state = 1;
    for (unsigned i = 0; i < turns; i++) {
        state = mix(state);
        table[state % ENTRIES] += i;
    }
    *(unsigned *)result = state;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    unsigned results[THREADS];
    turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000; /* begin */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, &results[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", results[0]); /* end */
    return 0;
}
