/* Begin and end without a call: the event is written where it happens, about a third cheaper than
 * jankbox_begin() and jankbox_end(), which these fall back to wherever something is not as usual
 * (no chunk yet, chunk full, another clock, an architecture without it). The macros of
 * jankbox/trace.h use them. HOT: THREAD-SAFE, SIGNAL-SAFE, NO-ALLOC.
 *
 * ABI: what is below - two symbols, whose names carry the version, and the word that is written.
 * A library with another ring keeps the two symbols, the gate never at 1, and so is called
 * instead: programs that were compiled with this header go on working.
 *
 * Linux on x86-64 and arm64; elsewhere these are calls. JANKBOX_NO_INLINE makes them calls here. */
#ifndef JANKBOX_INLINE_H_
#define JANKBOX_INLINE_H_

#include "jankbox/jankbox.h"

#if !defined(JANKBOX_NO_INLINE) && defined(__linux__) && !defined(__ANDROID__) && \
    (defined(__x86_64__) || defined(__aarch64__)) && defined(__GNUC__)

#ifdef __cplusplus
extern "C" {
#endif

/* This thread's place in the ring. `next` and `end` are addresses of 8-byte words; a word may be
 * written at `next` while the raw counter is below `rebase_at`. */
struct jankbox_cursor_v1 {
  uint64_t next;
  uint64_t end;
  uint64_t rebase_at;
};
extern __attribute__((tls_model("initial-exec")))
JANKBOX_API __thread struct jankbox_cursor_v1* jankbox_cursor_v1;

/* 0: recording is off. 1: write inline. Else: call. */
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

/* 1 where the event of `kind` (1 begin, 2 end) is written. Never two threads at one cursor; a
 * signal handler may come in between any two instructions and move it, so the word is taken by a
 * single one, and nothing of the cursor is kept in a register. */
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

/* Whether the gate says to write inline: one comparison with memory. */
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
