// Matrix' AppMethodBeat as a design: eight-byte records of the main thread only, whose time is a
// number that another thread renews every 5 ms. An own re-implementation.
#ifndef JANKBOX_BENCH_RING_WRITE_MATRIX_DESIGN_H_
#define JANKBOX_BENCH_RING_WRITE_MATRIX_DESIGN_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace jankbox::bench {

class MatrixDesign {
 public:
  MatrixDesign();  // the calling thread is the main thread; starts the one that renews the time
  ~MatrixDesign();

  void Pairs(uint32_t passes);

 private:
  static constexpr uint32_t kRecords = 1'000'000;

  void Record(uint64_t id, uint64_t begin_bit);

  const pthread_t main_thread_;
  std::unique_ptr<uint64_t[]> records_;
  uint32_t next_ = 0;
  std::atomic<uint64_t> now_ms_{0};
  std::atomic<bool> stop_{false};
  std::thread clock_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_MATRIX_DESIGN_H_
