/* A loop that does next to nothing, as many times as the argument says. */
#include <stdio.h>
#include <stdlib.h>

int total;

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    total = 0; /* begin */
    for (int i = 0; i < count; i++) {
        total += i & 15; /* body */
    }
    printf("%d\n", total); /* end */
    return 0;
}
