/* Writes a heap of 100 MB at random, for ever. */
#include <stdlib.h>
#include <string.h>

enum { SIZE = 100000000 };

static unsigned marks;

int main(int argc, char **argv) {
    unsigned turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    unsigned long state = 1;
    char *heap = malloc(SIZE);
    if (!heap)
        return 1;
    memset(heap, 1, SIZE); /* begin */
    for (unsigned i = 1;; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        heap[state % SIZE] = (char)i;
        if (i % turns == 0)
            marks++; /* mark */
    }
}
