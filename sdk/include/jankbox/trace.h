/* Slices by scope. C++: JANKBOX_TRACE("name") records from here to the end of the block. C (GCC,
 * Clang): the same, by the cleanup attribute. JANKBOX_TRACE_FUNC() takes the function's own name.
 * The id is looked up once per place. HOT after that. */
#ifndef JANKBOX_TRACE_H_
#define JANKBOX_TRACE_H_

#include "jankbox/inline.h"

#define JANKBOX_INTERNAL_JOIN2(a, b) a##b
#define JANKBOX_INTERNAL_JOIN(a, b) JANKBOX_INTERNAL_JOIN2(a, b)

#ifdef __cplusplus

namespace jankbox {

/* A slice of this thread that lasts as long as the object. */
class ScopedTrace {
 public:
  explicit ScopedTrace(uint32_t id) : id_(id) { jankbox_begin_inline(id_); }
  ~ScopedTrace() { jankbox_end_inline(id_); }
  ScopedTrace(const ScopedTrace&) = delete;
  ScopedTrace& operator=(const ScopedTrace&) = delete;

 private:
  uint32_t id_;
};

/* One dispatch of this thread's loop that lasts as long as the object. */
class ScopedDispatch {
 public:
  explicit ScopedDispatch(const char* what) { jankbox_dispatch_begin(what); }
  ~ScopedDispatch() { jankbox_dispatch_end(); }
  ScopedDispatch(const ScopedDispatch&) = delete;
  ScopedDispatch& operator=(const ScopedDispatch&) = delete;
};

}  // namespace jankbox

#define JANKBOX_TRACE(name)                                                                     \
  static const uint32_t JANKBOX_INTERNAL_JOIN(jankbox_id_, __LINE__) = jankbox_method_id(name); \
  ::jankbox::ScopedTrace JANKBOX_INTERNAL_JOIN(                                                 \
      jankbox_trace_, __LINE__)(JANKBOX_INTERNAL_JOIN(jankbox_id_, __LINE__))
#define JANKBOX_TRACE_FUNC() JANKBOX_TRACE(__PRETTY_FUNCTION__)

#else /* C */

static inline uint32_t jankbox_internal_begin(uint32_t* id, const char* name) {
  uint32_t known = __atomic_load_n(id, __ATOMIC_RELAXED);
  if (known == 0) {
    known = jankbox_method_id(name);
    __atomic_store_n(id, known, __ATOMIC_RELAXED);
  }
  jankbox_begin_inline(known);
  return known;
}
static inline void jankbox_internal_end(uint32_t* id) { jankbox_end_inline(*id); }

#define JANKBOX_TRACE(name)                                                              \
  static uint32_t JANKBOX_INTERNAL_JOIN(jankbox_id_, __LINE__);                          \
  __attribute__((cleanup(jankbox_internal_end), unused)) uint32_t JANKBOX_INTERNAL_JOIN( \
      jankbox_trace_, __LINE__) =                                                        \
      jankbox_internal_begin(&JANKBOX_INTERNAL_JOIN(jankbox_id_, __LINE__), name)
#define JANKBOX_TRACE_FUNC() JANKBOX_TRACE(__func__)

#endif

#endif /* JANKBOX_TRACE_H_ */
