/* Does what Windows does for a DLL with control-flow guard, and Wine does not: every call through a pointer comes by here, and one to a
 * place of the DLL that its table has not ends the program. Linked into another test, it says at the end how many calls it saw. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static const char *image;
static uint32_t image_bytes;
static const char *table;
static uint64_t n_functions;
static uint32_t entry_bytes;
static volatile LONG64 n_checked;

static int compare(const void *target, const void *entry) {
    uint32_t a = *(const uint32_t *)target, b = *(const uint32_t *)entry;
    return (a > b) - (a < b);
}

void check(const char *target) {
    InterlockedIncrement64(&n_checked);
    uint32_t place = (uint32_t)(target - image);
    if (target < image || target >= image + image_bytes) return;
    if (bsearch(&place, table, n_functions, entry_bytes, compare)) return;
    fprintf(stderr, "guard: a call of %#x, which is in no table\n", place);
    _exit(99);
}

/* The target is in rax; what the callee takes is left as it is. */
void dispatch(void);
__asm__(".globl dispatch\n"
        "dispatch:\n"
        "    push %rax\n    push %rcx\n    push %rdx\n    push %r8\n    push %r9\n    push %r10\n    push %r11\n"
        "    sub $128, %rsp\n"
        "    movups %xmm0, 32(%rsp)\n    movups %xmm1, 48(%rsp)\n    movups %xmm2, 64(%rsp)\n"
        "    movups %xmm3, 80(%rsp)\n    movups %xmm4, 96(%rsp)\n    movups %xmm5, 112(%rsp)\n"
        "    mov %rax, %rcx\n"
        "    call check\n"
        "    movups 32(%rsp), %xmm0\n    movups 48(%rsp), %xmm1\n    movups 64(%rsp), %xmm2\n"
        "    movups 80(%rsp), %xmm3\n    movups 96(%rsp), %xmm4\n    movups 112(%rsp), %xmm5\n"
        "    add $128, %rsp\n"
        "    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n    pop %rdx\n    pop %rcx\n    pop %rax\n"
        "    jmp *%rax\n");

static void report(void) { printf("guard: %lld calls checked\n", (long long)n_checked); }

__attribute__((constructor)) static void watch(void) {
    image = (const char *)GetModuleHandleA("elizainference.dll");
    const IMAGE_NT_HEADERS64 *head = (const void *)(image + ((const IMAGE_DOS_HEADER *)image)->e_lfanew);
    image_bytes = head->OptionalHeader.SizeOfImage;
    const IMAGE_DATA_DIRECTORY *directory = &head->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG];
    const IMAGE_LOAD_CONFIG_DIRECTORY64 *load = (const void *)(image + directory->VirtualAddress);
    table = (const char *)load->GuardCFFunctionTable;
    n_functions = load->GuardCFFunctionCount;
    entry_bytes = 4 + (load->GuardFlags >> 28);
    void (**place)(void) = (void *)load->GuardCFDispatchFunctionPointer;
    DWORD before;
    VirtualProtect(place, sizeof *place, PAGE_READWRITE, &before);
    *place = dispatch;
    VirtualProtect(place, sizeof *place, before, &before);
    atexit(report);
}
