/* Arithmetic and a table: many turns of a loop, without system calls. */
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 4096 };

static unsigned table[ENTRIES], early, last;

static unsigned mix(unsigned state) { /* lines */
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ (state << 5);
}

int main(int argc, char **argv) {
    unsigned state = 1, turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    early = 0; /* begin */
    early = turns; /* first */
    for (unsigned i = 0; i < turns; i++) {
        state = mix(state);
        table[state % ENTRIES] += i;
    }
    last = state; /* end */
    printf("%u\n", last);
    return 0;
}
