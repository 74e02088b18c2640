/*
 * spawn: measures the time and the peak memory of a whole program.
 *
 *   cc -O2 -o spawn spawn.c
 *   ./spawn [-i FILE] [-x CODE] ROUNDS COMMAND [ARGUMENT...]
 *
 * The program reads FILE or /dev/null, and its output goes to /dev/null. If it fails with an exit code other than CODE,
 * spawn fails. spawn is written in C because a child's peak includes the memory of its parent at the start: this parent
 * uses very little.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int accepted; /* an exit code that is not a failure */

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* one_round runs the command, returns its seconds and raises *peak to its largest size in KiB. */
static double one_round(char **command, const posix_spawn_file_actions_t *silent, long *peak) {
	pid_t pid;
	int status;
	struct rusage usage;
	double start = seconds();
	int failure = posix_spawnp(&pid, command[0], silent, NULL, command, environ);
	if (failure) errx(1, "%s: %s", command[0], strerror(failure));
	if (wait4(pid, &status, 0, &usage) < 0) err(1, "wait4");
	double took = seconds() - start;
	if (!WIFEXITED(status)) errx(1, "%s: ended by a signal", command[0]);
	if (WEXITSTATUS(status) && WEXITSTATUS(status) != accepted) errx(1, "%s: exit code %d", command[0], WEXITSTATUS(status));
	if (usage.ru_maxrss > *peak) *peak = usage.ru_maxrss;
	return took;
}

int main(int argc, char **argv) {
	const char *input = "/dev/null";
	for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
		if (!strcmp(argv[1], "-i")) input = argv[2];
		else if (!strcmp(argv[1], "-x")) accepted = atoi(argv[2]);
		else break;
	}
	int rounds = argc > 2 ? atoi(argv[1]) : 0;
	if (rounds < 1) errx(2, "usage: spawn [-i FILE] [-x CODE] ROUNDS COMMAND [ARGUMENT...]");
	posix_spawn_file_actions_t silent;
	posix_spawn_file_actions_init(&silent);
	posix_spawn_file_actions_addopen(&silent, 0, input, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0);
	double *times = calloc(rounds, sizeof *times);
	if (!times) err(1, "calloc");
	long peak = 0;
	for (int i = 0; i < rounds; i++) times[i] = one_round(argv + 2, &silent, &peak);
	qsort(times, rounds, sizeof *times, by_value);
	printf("spawn min=%.3fms med=%.3fms peak=%ldKiB\n", times[0] * 1e3, times[rounds / 2] * 1e3, peak);
}
