/* Tells libFuzzer where Zig keeps its counters of edges, and their addresses: both lie in sections, of which Zig's own fuzzer
 * reads the bounds, and no constructor passes them on. */
#include <stdint.h>
#include <stdlib.h>

extern uint8_t counters[] __asm__("__start___sancov_cntrs"), counters_end[] __asm__("__stop___sancov_cntrs");
extern uintptr_t places[] __asm__("__start___sancov_pcs1"), places_end[] __asm__("__stop___sancov_pcs1");

void __sanitizer_cov_8bit_counters_init(uint8_t *begin, uint8_t *end);
void __sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end);

__attribute__((constructor)) static void pass_on(void) {
    size_t n = (size_t)(counters_end - counters);
    if (n != (size_t)(places_end - places)) abort();
    uintptr_t *pairs = calloc(n, 2 * sizeof *pairs); /* an address, and whether a function begins there */
    if (pairs == NULL) abort();
    for (size_t i = 0; i < n; i++) pairs[2 * i] = places[i];
    __sanitizer_cov_8bit_counters_init(counters, counters_end);
    __sanitizer_cov_pcs_init(pairs, pairs + 2 * n);
}
