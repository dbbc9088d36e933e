// The same kernel on two threads at once: what one thread's pair costs while another records too.
#ifndef JANKBOX_BENCH_RING_WRITE_TWO_THREADS_H_
#define JANKBOX_BENCH_RING_WRITE_TWO_THREADS_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace jankbox::bench {

class TwoThreads {
 public:
  using Kernel = void (*)(uint32_t);

  explicit TwoThreads(Kernel kernel);
  ~TwoThreads();

  // Both run `passes` at once; the mean of their times for one pass.
  double NsPerPass(uint32_t passes);

 private:
  double RunOwnShare(uint32_t passes);
  void Serve();

  Kernel kernel_;
  std::atomic<uint32_t> round_{0};    // grows with each batch; the other thread sleeps on it
  std::atomic<uint32_t> waiting_{0};  // at the start line
  std::atomic<uint32_t> finished_{0};
  std::atomic<bool> stop_{false};
  uint32_t passes_ = 0;
  double other_ns_ = 0;
  std::thread other_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_TWO_THREADS_H_
