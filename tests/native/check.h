/* Checks that count: a failed one says where and continues; `check_report` gives the exit code. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int checks_passed, checks_failed;

#define CHECK(condition) check_that((condition) != 0, __FILE__, __LINE__, #condition)

#define CHECK_EQUAL(actual, expected) check_equal((long long)(actual), (long long)(expected), __FILE__, __LINE__, #actual)

static inline int check_that(int holds, const char *file, int line, const char *what) {
    if (holds) {
        checks_passed++;
    } else {
        checks_failed++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
    return holds;
}

static inline int check_equal(long long actual, long long expected, const char *file, int line, const char *what) {
    if (actual == expected) {
        checks_passed++;
        return 1;
    }
    checks_failed++;
    fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", file, line, what, actual, expected);
    return 0;
}

static inline int check_report(const char *what) {
    printf("%s: %d checks passed, %d failed\n", what, checks_passed, checks_failed);
    return checks_failed == 0 ? 0 : 1;
}

#endif
