/* Runs a target on files, where there is no libFuzzer.
 *
 *     TARGET FILE...
 */
#include <signal.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *is_running;

static void say_which(int signal) {
    (void)signal;
    fprintf(stderr, "%s\n", is_running);
}

int main(int argc, char **argv) {
    signal(SIGABRT, say_which);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        static uint8_t bytes[1 << 20];
        if (file == NULL) fail(argv[i], 0, "it can be opened");
        size_t n = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        is_running = argv[i];
        LLVMFuzzerTestOneInput(bytes, n);
    }
    printf("fuzzing, regressions: %d inputs, 0 failed\n", argc - 1);
    return 0;
}
