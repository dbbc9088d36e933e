#include "monitors/thread/ui_thread_check.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"

namespace jankbox {
namespace {

constexpr uint64_t kDefaultSlackNs = 50'000;

// SCHED_RESET_ON_FORK, which rtkit sets with SCHED_RR, is about the thread's children.
std::string PolicyName(int policy) {
  switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
      return "SCHED_OTHER";
    case SCHED_FIFO:
      return "SCHED_FIFO";
    case SCHED_RR:
      return "SCHED_RR";
    case SCHED_BATCH:
      return "SCHED_BATCH";
    case SCHED_IDLE:
      return "SCHED_IDLE";
    default:
      return "policy " + std::to_string(policy);
  }
}

}  // namespace

UiThreadReading ReadUiThread(int32_t tid) {
  UiThreadReading reading;
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(tid));
  if (errno == 0) reading.nice = nice;
  const int policy = sched_getscheduler(tid);
  if (policy >= 0) reading.policy = policy;
  const std::string slack = ReadProcFile("/proc/" + std::to_string(tid) + "/timerslack_ns", 32);
  if (!slack.empty()) reading.timer_slack_ns = strtoull(slack.c_str(), nullptr, 10);
  return reading;
}

std::vector<std::string> UiThreadCheck::Look(const UiThreadReading& reading) {
  std::vector<std::string> findings;
  if (reading.nice && last_.nice && *reading.nice > 0 && *reading.nice > *last_.nice) {
    findings.push_back("the UI thread's nice value is " + std::to_string(*reading.nice) +
                       ", it was " + std::to_string(*last_.nice) + ": other threads run first.");
  }
  if (reading.policy && last_.policy && *reading.policy != *last_.policy) {
    findings.push_back("the UI thread's scheduling policy is " + PolicyName(*reading.policy) +
                       ", it was " + PolicyName(*last_.policy) + ".");
  }
  if (reading.timer_slack_ns && *reading.timer_slack_ns > kDefaultSlackNs &&
      reading.timer_slack_ns != last_.timer_slack_ns) {
    findings.push_back("the UI thread's timer slack is " +
                       std::to_string(*reading.timer_slack_ns / 1000) +
                       " us: its timers may be that late (50 us is usual).");
  }
  last_ = reading;
  return findings;
}

}  // namespace jankbox
