// The shares of a verdict over time, as the trace shows them: parts of the incident, each with the
// shares that were spent in it. Parts come in order; within one only the thread's own calls have
// times, so that what is left is spread over the time between them. One thread; allocates, but no
// more than some thousand stretches.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_VERDICT_LINE_H_
#define JANKBOX_DIAGNOSIS_VERDICT_VERDICT_LINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "diagnosis/verdict/verdict.h"
#include "diagnosis/verdict/wait_span.h"

namespace jankbox {

class VerdictLine {
 public:
  // Of `length_ns`: stretches that are shorter than a thousandth of it join the next ones.
  explicit VerdictLine(uint64_t length_ns) : least_ns_(length_ns / kMaxStretches) {}

  // A part from `from_ns` to `to_ns`, which is after the last one and not empty. `calls` as in
  // WallTimeEvidence; they may begin before it and end after it.
  void BeginPart(uint64_t from_ns, uint64_t to_ns, const std::vector<WaitSpan>& calls);
  // Spent in `call`; as AddRest() if that is outside of the part.
  void AddAt(const WaitSpan& call, const VerdictShare& share);
  // Spent outside of the calls; within them if they take all of the part.
  void AddRest(const VerdictShare& share);
  void EndPart();

  std::vector<VerdictStretch> Take() { return std::move(stretches_); }

 private:
  static constexpr uint64_t kMaxStretches = 1000;

  struct Piece {
    VerdictStretch stretch;
    const WaitSpan* call = nullptr;  // null: between calls
  };

  void AddPiece(uint64_t from_ns, uint64_t to_ns, const WaitSpan* call);
  void Append(VerdictStretch&& stretch);

  const uint64_t least_ns_;
  uint64_t part_to_ns_ = 0;
  std::vector<Piece> pieces_;  // of the part, in order
  std::vector<VerdictStretch> stretches_;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_VERDICT_LINE_H_
