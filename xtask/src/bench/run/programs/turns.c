/* A line with a loop that is inlined into it. */
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) unsigned squares(unsigned count) {
    unsigned total = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i % 3)
            total += i * i;
    }
    return total;
}

int main(int argc, char **argv) {
    unsigned count = argc > 1 ? atoi(argv[1]) : 1;
    unsigned total = 0; /* begin */
    total += squares(count); /* loop */
    printf("%u\n", total); /* behind */
    return 0;
}
