/* A loop around one system call. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL syscall(SYS_getppid)

static char bytes[16];

int main(int argc, char **argv) {
    int zero = open("/dev/zero", O_RDONLY);
    unsigned failed = 0, calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    if (zero < 0)
        return 1;
    for (unsigned i = 0; i < calls; i++) { /* begin */
        failed += CALL < 0;
    }
    printf("%u failed, the last byte is %d\n", failed, bytes[15]); /* end */
    return 0;
}
