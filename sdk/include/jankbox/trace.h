/* Slices that last until the end of a block, for C++ and for C (GCC and Clang, with the cleanup
 * attribute).
 *
 *   JANKBOX_TRACE("decode");  // a slice "decode" from here to the end of the block
 *   JANKBOX_TRACE_FUNC();     // a slice with the name of the function
 *
 * The name is a string that does not change between calls. The first execution of a macro at a
 * place looks up the id (jankbox_method_id: locks and allocates); later ones are HOT. */
#ifndef JANKBOX_TRACE_H_
#define JANKBOX_TRACE_H_

#include "jankbox/inline.h"

#define JANKBOX_INTERNAL_JOIN2(a, b) a##b
#define JANKBOX_INTERNAL_JOIN(a, b) JANKBOX_INTERNAL_JOIN2(a, b)

#ifdef __cplusplus

namespace jankbox {

/* A slice of the thread that creates and destroys the object, as long as it lives. `id`: of
 * jankbox_method_id(). */
class ScopedTrace {
 public:
  explicit ScopedTrace(uint32_t id) : id_(id) { jankbox_begin_inline(id_); }
  ~ScopedTrace() { jankbox_end_inline(id_); }
  ScopedTrace(const ScopedTrace&) = delete;
  ScopedTrace& operator=(const ScopedTrace&) = delete;

 private:
  uint32_t id_;
};

/* A dispatch of the thread that creates and destroys the object, as long as it lives; see
 * jankbox_dispatch_begin(). */
class ScopedDispatch {
 public:
  explicit ScopedDispatch(const char* what) { jankbox_dispatch_begin(what, 0); }
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
