#include "diagnosis/verdict/verdict.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace jankbox {
namespace {

struct CauseText {
  const char* name;
  const char* words;
};
constexpr CauseText kCauses[kVerdictCauses] = {
    {"running", "on the CPU"},
    {"runnable", "ready to run while others had the CPU"},
    {"lock", "waiting for a lock"},
    {"disk", "waiting for the disk"},
    {"fault", "in page faults"},
    {"ipc", "waiting for another process"},
    {"gc", "waiting for the garbage collector"},
    {"sleeping", "asleep"},
    {"blocked", "off the CPU for an unknown reason"},
    {"unknown", "unaccounted for"},
};

constexpr const char* kSources[] = {"nothing",       "ftrace",     "perf switches", "schedstat",
                                    "thread states", "hooks",      "system calls",  "fault count",
                                    "cpu.stat",      "steal time", "collector"};

constexpr uint64_t kWorthASecondMention = 5;  // a fifth
constexpr uint64_t kKeyCausePercent = 60;

const VerdictShare* LargestOf(const Verdict& verdict, VerdictCause cause) {
  const VerdictShare* largest = nullptr;
  for (const VerdictShare& share : verdict.shares) {
    if (share.cause == cause && (largest == nullptr || share.ns > largest->ns)) largest = &share;
  }
  return largest;
}

uint64_t Ms(uint64_t ns) { return (ns + kNsPerMs / 2) / kNsPerMs; }

std::string CauseInWords(const VerdictShare& share, uint64_t total_ns, const Culprit& culprit) {
  std::string text = PhraseOf(share);
  if (share.cause == VerdictCause::kLock && share.owner_tid != 0) {
    const std::string tid = "tid " + std::to_string(share.owner_tid);
    text = "waiting for a lock held by ";
    text += culprit.owner_name.empty() ? tid : "'" + culprit.owner_name + "' (" + tid + ")";
    if (!culprit.owner_function.empty()) text += " in " + culprit.owner_function;
  }
  if (share.quota != nullptr) {
    text += ": " + std::to_string(Ms(share.ns)) + " of " + std::to_string(Ms(total_ns)) + " ms";
  } else if (share.cause == VerdictCause::kRunnable && share.words == nullptr &&
             !culprit.rivals.empty()) {
    text += ": " + culprit.rivals;
  }
  if (share.estimate) text += " (estimate)";
  return text;
}

}  // namespace

const char* VerdictCauseName(VerdictCause cause) {
  return kCauses[static_cast<size_t>(cause)].name;
}

const char* VerdictSourceName(VerdictSource source) {
  return kSources[static_cast<size_t>(source)];
}

std::string PhraseOf(const VerdictShare& share) {
  if (share.peer != nullptr) return PeerPhrase(*share.peer);
  if (share.quota != nullptr) return QuotaPhrase(*share.quota);
  if (share.overload != nullptr) return kOverloadPhrase;
  std::string text;
  if (share.words != nullptr) {
    text = share.words;
  } else if (share.call != nullptr) {
    text = std::string("in ") + share.call;
  } else {
    text = kCauses[static_cast<size_t>(share.cause)].words;
  }
  if (share.on != nullptr) text += std::string(" on ") + share.on;
  return text;
}

bool SameShare(const VerdictShare& a, const VerdictShare& b) {
  return a.cause == b.cause && a.source == b.source && a.estimate == b.estimate &&
         a.owner_tid == b.owner_tid && a.words == b.words && a.call == b.call && a.on == b.on &&
         a.peer == b.peer && a.quota == b.quota && a.overload == b.overload;
}

void AddShare(const VerdictShare& share, std::vector<VerdictShare>* shares) {
  if (share.ns == 0) return;
  for (VerdictShare& known : *shares) {
    if (!SameShare(known, share)) continue;
    known.ns += share.ns;
    return;
  }
  shares->push_back(share);
}

const VerdictShare* LargestShare(const std::vector<VerdictShare>& shares) {
  const auto largest =
      std::max_element(shares.begin(), shares.end(),
                       [](const VerdictShare& a, const VerdictShare& b) { return a.ns < b.ns; });
  return largest == shares.end() ? nullptr : &*largest;
}

std::array<uint64_t, kVerdictCauses> Verdict::ByCause() const {
  std::array<uint64_t, kVerdictCauses> ns{};
  for (const VerdictShare& share : shares) ns[static_cast<size_t>(share.cause)] += share.ns;
  return ns;
}

uint64_t Verdict::Of(VerdictCause cause) const { return ByCause()[static_cast<size_t>(cause)]; }

uint64_t Verdict::total_ns() const {
  uint64_t total = 0;
  for (const VerdictShare& share : shares) total += share.ns;
  return total;
}

std::vector<std::string> Verdict::Sources() const {
  uint64_t ns[std::size(kSources)] = {};
  for (const VerdictShare& share : shares) ns[static_cast<size_t>(share.source)] += share.ns;
  ns[0] = 0;
  std::vector<std::string> names;
  while (true) {
    uint64_t* most = std::max_element(std::begin(ns), std::end(ns));
    if (*most == 0) return names;
    names.emplace_back(kSources[most - ns]);
    *most = 0;
  }
}

std::string VerdictSentence(const Verdict& verdict, const Culprit& culprit) {
  std::array<uint64_t, kVerdictCauses> left = verdict.ByCause();
  const uint64_t total = verdict.total_ns();
  std::string sentence;
  for (int mentions = 0; mentions < 2; ++mentions) {
    uint64_t* most = std::max_element(left.begin(), left.end());
    if (*most == 0 || (mentions > 0 && *most < total / kWorthASecondMention)) break;
    const VerdictShare& share = *LargestOf(verdict, static_cast<VerdictCause>(most - left.data()));
    const uint64_t ns = share.quota != nullptr ? share.ns : *most;
    if (mentions > 0) sentence += " and ";
    sentence += std::to_string((ns * 100 + total / 2) / total) + " % " +
                CauseInWords(share, total, culprit);
    *most = 0;
  }
  if (!sentence.empty() && !culprit.function.empty()) sentence += ", in " + culprit.function;
  return sentence;
}

const char* KeyCause(const Verdict& verdict) {
  std::array<uint64_t, kVerdictCauses> ns = verdict.ByCause();
  const auto of = [&ns](VerdictCause cause) -> uint64_t& { return ns[static_cast<size_t>(cause)]; };
  const uint64_t runnable_ns = std::exchange(of(VerdictCause::kRunnable), 0);
  uint64_t known_ns = verdict.total_ns() - std::exchange(of(VerdictCause::kUnknown), 0);
  if (runnable_ns > known_ns / 2) {
    of(VerdictCause::kRunning) += runnable_ns;
  } else {
    known_ns -= runnable_ns;
  }
  const auto most = std::max_element(ns.begin(), ns.end());
  if (*most == 0) return VerdictCauseName(VerdictCause::kUnknown);
  if (*most * 100 < known_ns * kKeyCausePercent) return "mixed";
  return VerdictCauseName(static_cast<VerdictCause>(most - ns.begin()));
}

}  // namespace jankbox
