/* Loaded before everything else (LD_PRELOAD), it notes which lines of programs and libraries run, on x86-64 Linux.
 *
 * measure.py has put a breakpoint, int3, where the code of a line begins. The first time that one is met, the byte that
 * was there comes back, the line is noted, and the program continues: each line costs one signal. Beside a file F, F.traps
 * lists the offsets in it and the bytes that were there, ascending, and F.hits has a byte for each; it is shared by all
 * processes. Only what may be called in a signal handler is called. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, PATH_MAX_BYTES = 1024, RANGES_MAX = 64 };

struct trap {
    uint64_t offset;
    uint64_t byte;
};

/* A part of the address space that a file with traps is mapped to. */
struct range {
    uintptr_t start, end;
    uint64_t offset;
    const struct trap *traps;
    size_t n_traps;
    unsigned char *hits;
};

static struct range ranges[RANGES_MAX];
static size_t n_ranges;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void *map(const char *path, const char *ending, int flags, int protection, size_t *size) {
    char name[PATH_MAX_BYTES + 8];
    strcpy(name, path);
    strcat(name, ending);
    int file = open(name, flags | O_CLOEXEC);
    if (file < 0) return NULL;
    struct stat status;
    void *at = fstat(file, &status) == 0 ? mmap(NULL, status.st_size, protection, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (at == MAP_FAILED) return NULL;
    *size = status.st_size;
    return at;
}

static const char *hexadecimal(const char *at, uint64_t *number) {
    for (*number = 0;; at++) {
        char c = *at;
        if (c >= '0' && c <= '9') *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f') *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else return at;
    }
}

/* A line of /proc/self/maps: start-end rwxp offset device inode path */
static void add_range(const char *line, uintptr_t address) {
    uint64_t start, end, offset;
    const char *at = hexadecimal(hexadecimal(line, &start) + 1, &end);
    if (address < start || address >= end || n_ranges == RANGES_MAX) return;
    at = hexadecimal(at + 6, &offset);
    const char *path = strchr(at, '/');
    if (path == NULL || strlen(path) >= PATH_MAX_BYTES) return;
    struct range *range = &ranges[n_ranges];
    *range = (struct range){.start = start, .end = end, .offset = offset};
    size_t n_bytes, n_hits;
    range->traps = map(path, ".traps", O_RDONLY, PROT_READ, &n_bytes);
    range->hits = map(path, ".hits", O_RDWR, PROT_READ | PROT_WRITE, &n_hits);
    if (range->traps == NULL || range->hits == NULL) return;
    range->n_traps = n_bytes / sizeof(struct trap);
    n_ranges++;
}

static void look_up(uintptr_t address) {
    static char line[2 * PATH_MAX_BYTES], buffer[PAGE];
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) {
        for (ssize_t i = 0; i < n; i++) {
            if (buffer[i] != '\n') {
                if (length < sizeof line - 1) line[length++] = buffer[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            add_range(line, address);
        }
    }
    close(file);
}

static const struct range *range_of(uintptr_t address) {
    for (size_t i = 0; i < n_ranges; i++)
        if (address >= ranges[i].start && address < ranges[i].end) return &ranges[i];
    return NULL;
}

static int take_out(uintptr_t address) {
    if (range_of(address) == NULL) look_up(address);
    const struct range *range = range_of(address);
    if (range == NULL) return 0;
    uint64_t offset = address - range->start + range->offset;
    size_t low = 0, high = range->n_traps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (range->traps[middle].offset < offset) low = middle + 1;
        else high = middle;
    }
    if (low == range->n_traps || range->traps[low].offset != offset) return 0;
    range->hits[low] = 1;
    mprotect((void *)(address & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    *(volatile unsigned char *)address = (unsigned char)range->traps[low].byte;
    return 1;
}

static void trapped(int number, siginfo_t *information, void *given) {
    (void)information;
    ucontext_t *context = given;
    uintptr_t address = (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - 1;
    while (atomic_flag_test_and_set(&busy)) {}
    int known = take_out(address);
    atomic_flag_clear(&busy);
    if (known) context->uc_mcontext.gregs[REG_RIP] = (greg_t)address;
    else signal(number, SIG_DFL);
}

__attribute__((constructor)) static void install(void) {
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(SIGTRAP, &action, NULL);
}
