#include <jankbox/inline.h>
#include <jankbox/jankbox.h>

#include "bench/harness/opaque.h"
#include "bench/ring_write/kernels.h"

namespace jankbox::bench {
namespace {

uint32_t MethodId() {
  static const uint32_t id = jankbox_method_id("bench::Pair");
  return id;
}

}  // namespace

JANKBOX_BENCH_KERNEL void InlinePairs(uint32_t passes) {
  const uint32_t id = MethodId();
  for (uint32_t i = 0; i < passes; ++i) {
    jankbox_begin_inline(id);
    UnknownCode();
    jankbox_end_inline(id);
    UnknownCode();
  }
}

JANKBOX_BENCH_KERNEL void LibraryPairs(uint32_t passes) {
  const uint32_t id = MethodId();
  for (uint32_t i = 0; i < passes; ++i) {
    jankbox_begin(id);
    UnknownCode();
    jankbox_end(id);
    UnknownCode();
  }
}

}  // namespace jankbox::bench
