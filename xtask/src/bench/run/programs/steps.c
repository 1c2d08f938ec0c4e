/* Short lines, as in most programs' loops: arithmetic, a branch, a call. */
#include <stdio.h>

static unsigned mix(unsigned total, unsigned i) {
    return total ^ (i << 1);
}

int main(void) {
    unsigned total = 0; /* begin */
    for (unsigned i = 0; i < 1000000; i++) {
        total += i;
        if (total & 1)
            total >>= 1;
        total = mix(total, i);
    }
    printf("%u\n", total);
    return 0;
}
