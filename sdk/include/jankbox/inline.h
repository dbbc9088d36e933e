/* jankbox_begin_inline() and jankbox_end_inline(): as jankbox_begin() and jankbox_end(), but they
 * write the event into the ring without a function call, which costs about a third less. They make
 * the call if the thread has no free space at hand in the ring, or if the library records in
 * another way. The macros of jankbox/trace.h use them. HOT, and safe in signal handlers.
 *
 * Linux on x86-64 and arm64 with GCC or Clang; on other systems, and if JANKBOX_NO_INLINE is
 * defined, they always make the call.
 *
 * ABI: a compiled program relies on the two symbols below, which have a version in their names, and
 * on the layout of the 8-byte word (time << 28 | id << 4 | kind). A library with another layout
 * keeps the symbols and never sets the gate to 1; the program then makes the calls. */
#ifndef JANKBOX_INLINE_H_
#define JANKBOX_INLINE_H_

#include "jankbox/jankbox.h"

#if !defined(JANKBOX_NO_INLINE) && defined(__linux__) && !defined(__ANDROID__) && \
    (defined(__x86_64__) || defined(__aarch64__)) && defined(__GNUC__)

#ifdef __cplusplus
extern "C" {
#endif

/* The free space into which the calling thread writes its events. */
struct jankbox_cursor_v1 {
  /* The address of the next 8-byte word, and the first address beyond the free space. */
  uint64_t next;
  uint64_t end;
  /* The value of the CPU's counter from which on the library must be called: it then adds an event
   * with the time in full. */
  uint64_t rebase_at;
};
extern __attribute__((tls_model("initial-exec")))
JANKBOX_API __thread struct jankbox_cursor_v1* jankbox_cursor_v1;

/* 0: recording is off. 1: write inline. Other values: call the library. */
extern JANKBOX_API int32_t jankbox_gate_v1;

#ifdef __cplusplus
}
#endif

static inline __attribute__((always_inline)) uint64_t jankbox_internal_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

/* Writes an event of `kind` (1 begin, 2 end). Returns 1 if it did, 0 if the caller must call the
 * library. A cursor belongs to one thread, but a signal handler may interrupt it between any two
 * instructions and move the cursor. So one instruction takes the word, and no field of the cursor
 * is kept in a register. */
static inline __attribute__((always_inline)) int jankbox_internal_write(uint32_t id,
                                                                        uint32_t kind) {
  struct jankbox_cursor_v1* cursor = jankbox_cursor_v1;
  const uint64_t now = jankbox_internal_ticks();
#if defined(__x86_64__)
  int late, full;
  uint64_t at = sizeof(uint64_t);
  __asm__ volatile("cmpq %1, %2" : "=@ccae"(late) : "m"(cursor->rebase_at), "r"(now));
  if (__builtin_expect(late, 0)) return 0;
  __asm__ volatile("xaddq %0, %1\n\tcmpq %3, %0"
                   : "+&r"(at), "+m"(cursor->next), "=@ccae"(full)
                   : "m"(cursor->end));
  if (__builtin_expect(full, 0)) return 0;
#else
  if (__builtin_expect(now >= __atomic_load_n(&cursor->rebase_at, __ATOMIC_RELAXED), 0)) return 0;
  const uint64_t at = __atomic_fetch_add(&cursor->next, sizeof(uint64_t), __ATOMIC_RELAXED);
  if (__builtin_expect(at >= __atomic_load_n(&cursor->end, __ATOMIC_RELAXED), 0)) return 0;
#endif
  __atomic_store_n((uint64_t*)(uintptr_t)at, now << 28 | (uint64_t)((id & 0xffffffu) << 4 | kind),
                   __ATOMIC_RELAXED);
  return 1;
}

/* Returns 1 if events are written inline. One comparison with memory. */
static inline __attribute__((always_inline)) int jankbox_internal_writes_inline(void) {
#if defined(__x86_64__)
  int other;
  __asm__ volatile("cmpl $1, %1" : "=@ccne"(other) : "m"(jankbox_gate_v1));
  return __builtin_expect(!other, 1);
#else
  return __builtin_expect(__atomic_load_n(&jankbox_gate_v1, __ATOMIC_RELAXED) == 1, 1);
#endif
}

static inline __attribute__((always_inline)) int jankbox_internal_is_off(void) {
  return __atomic_load_n(&jankbox_gate_v1, __ATOMIC_RELAXED) == 0;
}

static inline __attribute__((always_inline)) void jankbox_begin_inline(uint32_t id) {
  if (jankbox_internal_writes_inline()) {
    if (jankbox_internal_write(id, 1)) return;
  } else if (jankbox_internal_is_off()) {
    return;
  }
  jankbox_begin(id);
}

static inline __attribute__((always_inline)) void jankbox_end_inline(uint32_t id) {
  if (jankbox_internal_writes_inline()) {
    if (jankbox_internal_write(id, 2)) return;
  } else if (jankbox_internal_is_off()) {
    return;
  }
  jankbox_end(id);
}

#else

static inline void jankbox_begin_inline(uint32_t id) { jankbox_begin(id); }
static inline void jankbox_end_inline(uint32_t id) { jankbox_end(id); }

#endif

#endif /* JANKBOX_INLINE_H_ */
