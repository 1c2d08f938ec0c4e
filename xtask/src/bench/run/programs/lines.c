/* Output, line by line. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < count; i++) /* begin */
        printf("line %d of the program's output\n", i);
    return 0;
}
