// The same kernel on two threads: at once, and one after the other. The difference is what one
// thread's recording costs the other.
#ifndef JANKBOX_BENCH_RING_WRITE_TWO_THREADS_H_
#define JANKBOX_BENCH_RING_WRITE_TWO_THREADS_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace jankbox::bench {

class TwoThreads {
 public:
  using Kernel = void (*)(uint32_t);

  explicit TwoThreads(Kernel kernel);  // the calling thread is one of the two
  ~TwoThreads();

  // Each runs `passes`; the mean of their times for one pass.
  double NsAtOnce(uint32_t passes);
  double NsInTurn(uint32_t passes);

 private:
  double Timed(uint32_t passes) const;
  void MeetOther();
  void WakeOther(uint32_t passes, bool at_once);
  void Serve();

  Kernel kernel_;
  std::atomic<uint32_t> round_{0};  // grows with each batch; the other thread sleeps on it
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint32_t> finished_{0};
  std::atomic<bool> stop_{false};
  uint32_t passes_ = 0;
  bool at_once_ = false;
  double other_ns_ = 0;
  std::thread other_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_TWO_THREADS_H_
