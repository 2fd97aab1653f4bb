/* A file in memory, the same one for each input. */
#ifndef FUZZ_MEMORY_FILE_H
#define FUZZ_MEMORY_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static char memory_file_path[32];

static inline void put_memory_file(const uint8_t *bytes, size_t n) {
    static int descriptor;
    if (descriptor == 0) {
        descriptor = memfd_create("fuzz", 0);
        CHECK(descriptor > 0);
        snprintf(memory_file_path, sizeof memory_file_path, "/proc/self/fd/%d", descriptor);
    }
    CHECK(ftruncate(descriptor, (off_t)n) == 0 && pwrite(descriptor, bytes, n, 0) == (ssize_t)n);
}

#endif
