/* What Windows reads of a DLL with control-flow guard, and the copy of mingw-w64 that Zig brings has not. The linker knows the tables and
 * makes the names that begin with two underscores. */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define CF_INSTRUMENTED 0x100
#define CF_FUNCTION_TABLE_PRESENT 0x400
#define CF_LONGJUMP_TABLE_PRESENT 0x10000

extern const char __guard_check_icall_fptr;
extern const char __guard_fids_table, __guard_fids_count;
extern const char __guard_iat_table, __guard_iat_count;
extern const char __guard_longjmp_table, __guard_longjmp_count;

#ifdef __x86_64__
extern const char __guard_dispatch_icall_fptr;

/* Calls go by here until Windows puts its own check in place. Not a function of C, which would be one that may be called by pointer. */
__asm__(".globl __guard_dispatch_icall_dummy\n"
        "__guard_dispatch_icall_dummy:\n"
        "    jmp *%rax\n");
#endif

const IMAGE_LOAD_CONFIG_DIRECTORY64 _load_config_used = {
    .Size = sizeof(IMAGE_LOAD_CONFIG_DIRECTORY64),
    .GuardCFCheckFunctionPointer = (ULONGLONG)&__guard_check_icall_fptr,
#ifdef __x86_64__
    .GuardCFDispatchFunctionPointer = (ULONGLONG)&__guard_dispatch_icall_fptr,
#endif
    .GuardCFFunctionTable = (ULONGLONG)&__guard_fids_table,
    .GuardCFFunctionCount = (ULONGLONG)&__guard_fids_count,
    .GuardFlags = CF_INSTRUMENTED | CF_FUNCTION_TABLE_PRESENT | CF_LONGJUMP_TABLE_PRESENT,
    .GuardAddressTakenIatEntryTable = (ULONGLONG)&__guard_iat_table,
    .GuardAddressTakenIatEntryCount = (ULONGLONG)&__guard_iat_count,
    .GuardLongJumpTargetTable = (ULONGLONG)&__guard_longjmp_table,
    .GuardLongJumpTargetCount = (ULONGLONG)&__guard_longjmp_count,
};
