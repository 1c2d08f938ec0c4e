/* Measures what ptrace(2) itself allows: a tracer that stops a process at the entry and the exit of each system call, and does nothing
 * else. The two share a CPU, where a switch between them is cheapest. Prints the microseconds for a call. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    int status, calls = argc > 1 ? atoi(argv[1]) : 1000;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            die("PTRACE_TRACEME");
        raise(SIGSTOP);
        for (;;)
            syscall(SYS_getppid);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        die("waitpid");
    double begin = now();
    for (int i = 0; i < 2 * calls; i++) {
        ptrace(PTRACE_SYSCALL, child, 0, 0);
        if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
            die("a stop");
    }
    printf("%f\n", 1e6 * (now() - begin) / calls);
    kill(child, SIGKILL);
    waitpid(child, &status, __WALL);
    return 0;
}
