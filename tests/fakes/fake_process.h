// The threads of a process that has an ANR, as the test sets them. Its clock goes on by `stack_ns`
// with every stack that is asked for.
#ifndef JANKBOX_TESTS_FAKES_FAKE_PROCESS_H_
#define JANKBOX_TESTS_FAKES_FAKE_PROCESS_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diagnosis/seal/anr_threads.h"

namespace jankbox {

class FakeProcess final : public AnrThreadsSource {
 public:
  // A thread that is blocked in system call `number`; `owner_tid` has what it waits for.
  ThreadLook& Add(int32_t tid, const std::string& name, int64_t number = -1,
                  int32_t owner_tid = 0) {
    ThreadLook look;
    look.tid = tid;
    look.name = name;
    look.state = 'S';
    look.call.number = number;
    if (owner_tid != 0) owner_of_[tid] = owner_tid;
    threads_.push_back(look);
    return threads_.back();
  }

  std::vector<ThreadLook> Threads(size_t most, size_t* total) override {
    *total = threads_.size();
    std::vector<ThreadLook> first = threads_;
    first.resize(std::min(most, first.size()));
    return first;
  }
  int32_t OwnerOf(const ThreadLook& look) override {
    const auto owner = owner_of_.find(look.tid);
    return owner == owner_of_.end() ? 0 : owner->second;
  }
  bool TakeStack(int32_t tid, StackSample* sample) override {
    asked.push_back(tid);
    now_ns += stack_ns;
    if (running.count(tid) != 0) return false;
    sample->tid = tid;
    sample->depth = 1;
    sample->pcs[0] = static_cast<uint64_t>(tid);
    return true;
  }
  uint64_t NowNs() override { return now_ns; }

  uint64_t now_ns = 1;
  uint64_t stack_ns = 0;
  std::set<int32_t> running;   // have no stack
  std::vector<int32_t> asked;  // for stacks, in this order

 private:
  std::vector<ThreadLook> threads_;
  std::map<int32_t, int32_t> owner_of_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_FAKES_FAKE_PROCESS_H_
