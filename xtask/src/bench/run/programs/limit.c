/* Measures what ptrace(2) itself allows, which no debugger can exceed. Tracer and tracee share a CPU, where a switch between
 * them is cheapest. Prints a line for each figure: its name, and the count per second or the milliseconds. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HITS = 100000, STEPS = 100000, CALLS = 500000000, WATCHED = 50000, THREADS = 500, PAUSES = 21 };

static volatile int watched;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

/* A child that is traced and stopped at its first instruction after the fork. */
static pid_t traced(void (*run)(void)) {
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            die("PTRACE_TRACEME");
        raise(SIGSTOP);
        run();
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        die("waitpid");
    return child;
}

/* The least that a decision at a place in a program can cost: a call and a comparison. */
static __attribute__((noinline)) int decides(int i) {
    __asm__ volatile("");
    return i == -1;
}

static void *decide(void *unused) {
    int held = 0;
    for (int i = 0; i < CALLS; i++)
        held += decides(i);
    if (held)
        die("a comparison");
    return unused;
}

static void calls(const char *name, int count) {
    pthread_t threads[2];
    double begin = now();
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, decide, NULL))
            die("pthread_create");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%s %f\n", name, (double)count * CALLS / (now() - begin));
}

static void finish(pid_t child) {
    kill(child, SIGKILL);
    while (waitpid(child, NULL, __WALL) == child)
        ;
}

/* Each round is one trap. Nothing has to be stepped over, so it costs no second stop. */
static void trap_for_ever(void) {
    for (;;) {
        __asm__ volatile("int3");
        watched++;
    }
}

static void breakpoints(void) {
    pid_t child = traced(trap_for_ever);
    int status, value = 0;
    struct user_regs_struct registers;
    struct iovec local = {&value, sizeof value}, remote = {(void *)&watched, sizeof value};
    double begin = now();
    for (int i = 0; i < HITS; i++) {
        ptrace(PTRACE_CONT, child, 0, 0);
        if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
            die("a hit");
        /* The calls that a condition needs, and the one that moves the thread past the breakpoint. */
        ptrace(PTRACE_GETREGS, child, 0, &registers);
        if (process_vm_readv(child, &local, 1, &remote, 1, 0) < 0)
            die("process_vm_readv");
        ptrace(PTRACE_SETREGS, child, 0, &registers);
    }
    printf("hits %.0f\n", HITS / (now() - begin));
    finish(child);
}

static void steps(void) {
    pid_t child = traced(trap_for_ever);
    int status;
    double begin = now();
    for (int i = 0; i < STEPS; i++) {
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
        if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
            die("a step");
    }
    printf("steps %.0f\n", STEPS / (now() - begin));
    finish(child);
}

static void write_for_ever(void) {
    for (;;)
        watched++;
}

static void watchpoints(void) {
    pid_t child = traced(write_for_ever);
    int status;
    size_t at = offsetof(struct user, u_debugreg);
    /* Slot 0: four bytes, writes. */
    if (ptrace(PTRACE_POKEUSER, child, at, &watched) ||
        ptrace(PTRACE_POKEUSER, child, at + 7 * sizeof(long), 0xd0001))
        die("a debug register");
    double begin = now();
    for (int i = 0; i < WATCHED; i++) {
        ptrace(PTRACE_CONT, child, 0, 0);
        if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
            die("a write");
    }
    printf("writes %.0f\n", WATCHED / (now() - begin));
    finish(child);
}

static void *sleep_for_ever(void *barrier) {
    pthread_barrier_wait(barrier);
    for (;;)
        pause();
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void threads(void) {
    int tell[2];
    char byte;
    pid_t ids[THREADS];
    if (pipe(tell))
        die("pipe");
    pid_t child = fork();
    if (child == 0) {
        pthread_barrier_t all_there;
        pthread_attr_t small;
        pthread_barrier_init(&all_there, NULL, THREADS);
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        for (int i = 1; i < THREADS; i++) {
            pthread_t thread;
            if (pthread_create(&thread, &small, sleep_for_ever, &all_there))
                _exit(1);
        }
        pthread_barrier_wait(&all_there);
        if (write(tell[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    if (read(tell[0], &byte, 1) != 1)
        die("the threads");
    int count = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", child);
    DIR *tasks = opendir(path);
    if (!tasks)
        die(path);
    for (struct dirent *task; (task = readdir(tasks)) && count < THREADS;) {
        pid_t id = atoi(task->d_name);
        if (id > 0 && ptrace(PTRACE_SEIZE, id, 0, 0) == 0)
            ids[count++] = id;
    }
    closedir(tasks);
    if (count != THREADS)
        die("threads that can be seized");
    double pauses[PAUSES], resumes[PAUSES];
    for (int round = 0; round < PAUSES; round++) {
        int status;
        double begin = now();
        for (int i = 0; i < THREADS; i++)
            ptrace(PTRACE_INTERRUPT, ids[i], 0, 0);
        for (int i = 0; i < THREADS; i++)
            if (waitpid(ids[i], &status, __WALL) < 0)
                die("a thread's stop");
        pauses[round] = now() - begin;
        begin = now();
        for (int i = 0; i < THREADS; i++)
            ptrace(PTRACE_CONT, ids[i], 0, 0);
        resumes[round] = now() - begin;
        usleep(20000);
    }
    qsort(pauses, PAUSES, sizeof *pauses, by_size);
    qsort(resumes, PAUSES, sizeof *resumes, by_size);
    printf("pause %.3f\n", 1e3 * pauses[PAUSES / 2]);
    printf("resume %.3f\n", 1e3 * resumes[PAUSES / 2]);
    kill(child, SIGKILL);
    while (waitpid(-1, NULL, __WALL) > 0)
        ;
}

int main(void) {
    calls("calls", 1);
    calls("both", 2);
    threads();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one))
        die("sched_setaffinity");
    breakpoints();
    steps();
    watchpoints();
    return 0;
}
