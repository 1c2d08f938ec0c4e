/* A stack as deep as the argument says, and a line to step on in its innermost frame. */
#include <stdio.h>
#include <stdlib.h>

static int down(int depth, int total) {
    int rounds = 0;
    if (depth > 0)
        return down(depth - 1, total + depth) + 1;
    for (;;) {
        rounds++; /* begin */
        if (rounds == 1000000000)
            return total;
    }
}

int main(int argc, char **argv) {
    printf("%d\n", down(argc > 1 ? atoi(argv[1]) : 10, 0));
    return 0;
}
