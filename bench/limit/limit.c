/*
 * limit: measures the plain system calls of a skill discovery, to compare with our discovery.
 *
 *   cc -O2 -pthread -o limit limit.c
 *   ./limit MODE ROOT THREADS ROUNDS
 *
 * Every round lists ROOT (getdents64) and then, depending on MODE, does for each directory NAME in it:
 *   dents       nothing more
 *   stat        statx NAME/SKILL.md
 *   read4k      open it, read its first 4 KiB, close
 *   readstat4k  the same with a statx of the open file
 *   readfull    open it, read up to 64 KiB, close
 *
 * It does not parse, check or keep anything. It prints one line: the shortest and the median round.
 * Linux only.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, BATCH = 64, SMALL_READ = 4096, FULL_READ = 65536 };

/* The record that getdents64 writes; the C library does not declare it. */
struct entry {
	unsigned long long inode;
	long long offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* What each mode does with each file. */
struct mode {
	const char *name;
	int touch; /* do anything with the file */
	int read;  /* bytes to read; 0 means only statx */
	int stat;  /* statx of the open file too */
};

static const struct mode modes[] = {
	{"dents", 0, 0, 0},
	{"stat", 1, 0, 0},
	{"read4k", 1, SMALL_READ, 0},
	{"readstat4k", 1, SMALL_READ, 1},
	{"readfull", 1, FULL_READ, 0},
};

static const struct mode *mode;
static int root;                /* the open directory */
static char *names;             /* "NAME/SKILL.md", one after the other, each ended by a NUL */
static size_t names_len, names_cap;
static size_t *starts;          /* the offset of each name */
static int count, starts_cap;
static int next;                /* the first file that no thread has taken */
static unsigned long long sum;  /* of sizes, printed to keep the compiler from removing the work */

static void *grow(void *p, size_t size) {
	p = realloc(p, size);
	if (!p) err(1, "realloc");
	return p;
}

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* remember keeps NAME/SKILL.md of one directory. */
static void remember(const char *name) {
	size_t length = strlen(name);
	if (count == starts_cap) {
		starts_cap = starts_cap ? starts_cap * 2 : 1024;
		starts = grow(starts, starts_cap * sizeof *starts);
	}
	if (names_len + length + sizeof "/SKILL.md" > names_cap) {
		names_cap = names_cap ? names_cap * 2 : 1 << 20;
		names = grow(names, names_cap);
	}
	starts[count++] = names_len;
	memcpy(names + names_len, name, length);
	memcpy(names + names_len + length, "/SKILL.md", sizeof "/SKILL.md");
	names_len += length + sizeof "/SKILL.md";
}

static void list_root(void) {
	static char buffer[1 << 20];
	count = 0;
	names_len = 0;
	for (;;) {
		long n = syscall(SYS_getdents64, root, buffer, sizeof buffer);
		if (n < 0) err(1, "getdents64");
		if (n == 0) return;
		for (long at = 0; at < n;) {
			struct entry *e = (struct entry *)(buffer + at);
			at += e->length;
			if (e->type == DT_DIR && e->name[0] != '.') remember(e->name);
		}
	}
}

static unsigned long long size_of(int dir, const char *path, int flags) {
	struct statx st;
	return statx(dir, path, flags, STATX_MTIME | STATX_SIZE | STATX_INO, &st) ? 0 : st.stx_size;
}

/* touch does for one file what the mode requires. */
static unsigned long long touch(const char *path, char *buffer) {
	if (!mode->read) return size_of(root, path, 0);
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) return 0;
	unsigned long long result = mode->stat ? size_of(fd, "", AT_EMPTY_PATH) : 0;
	ssize_t n = read(fd, buffer, mode->read);
	close(fd);
	return n > 0 ? result + n : result;
}

/* work takes batches of files until all are taken. */
static void *work(void *unused) {
	static __thread char buffer[FULL_READ];
	unsigned long long mine = 0;
	(void)unused;
	for (;;) {
		int from = __atomic_fetch_add(&next, BATCH, __ATOMIC_RELAXED);
		if (from >= count) break;
		int to = from + BATCH < count ? from + BATCH : count;
		for (int i = from; i < to; i++) mine += touch(names + starts[i], buffer);
	}
	__atomic_fetch_add(&sum, mine, __ATOMIC_RELAXED);
	return NULL;
}

static double one_round(const char *path, int threads) {
	pthread_t others[MAX_THREADS];
	double start = seconds();
	root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) err(1, "%s", path);
	list_root();
	next = 0;
	if (mode->touch) {
		for (int i = 1; i < threads; i++)
			if (pthread_create(&others[i], NULL, work, NULL)) errx(1, "no thread");
		work(NULL);
		for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
	}
	close(root);
	return seconds() - start;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	int threads = argc == 5 ? atoi(argv[3]) : 0, rounds = argc == 5 ? atoi(argv[4]) : 0;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name)) mode = &modes[i];
	if (!mode || threads < 1 || threads > MAX_THREADS || rounds < 1)
		errx(2, "usage: limit dents|stat|read4k|readstat4k|readfull ROOT THREADS ROUNDS");
	double *times = grow(NULL, rounds * sizeof *times);
	for (int i = 0; i < rounds; i++) times[i] = one_round(argv[2], threads);
	qsort(times, rounds, sizeof *times, by_value);
	printf("%s n=%d threads=%d min=%.3fms med=%.3fms per=%.0fns sum=%llu\n", mode->name, count, threads,
	       times[0] * 1e3, times[rounds / 2] * 1e3, times[0] * 1e9 / (count ? count : 1), sum);
}
