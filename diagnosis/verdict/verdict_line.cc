#include "diagnosis/verdict/verdict_line.h"

#include <algorithm>
#include <utility>

namespace jankbox {
namespace {

uint64_t Length(const VerdictStretch& stretch) { return stretch.to_ns - stretch.from_ns; }

// All of it but a hundredth was spent in this; null if it is mixed.
const VerdictShare* KindOf(const VerdictStretch& stretch) {
  const VerdictShare* largest = LargestShare(stretch.shares);
  return largest != nullptr && largest->ns >= Length(stretch) / 100 * 99 ? largest : nullptr;
}

bool OfOneKind(const VerdictStretch& a, const VerdictStretch& b) {
  const VerdictShare *of_a = KindOf(a), *of_b = KindOf(b);
  return of_a != nullptr && of_b != nullptr && SameShare(*of_a, *of_b);
}

// Makes `next`, which begins where `stretch` ends, a part of it.
void Join(VerdictStretch* stretch, const VerdictStretch& next) {
  stretch->to_ns = next.to_ns;
  for (const VerdictShare& share : next.shares) AddShare(share, &stretch->shares);
}

}  // namespace

void VerdictLine::AddPiece(uint64_t from_ns, uint64_t to_ns, const WaitSpan* call) {
  if (to_ns > from_ns) pieces_.push_back({{from_ns, to_ns, {}}, call});
}

void VerdictLine::BeginPart(uint64_t from_ns, uint64_t to_ns, const std::vector<WaitSpan>& calls) {
  pieces_.clear();
  part_to_ns_ = to_ns;
  uint64_t at = from_ns;
  auto call = std::partition_point(calls.begin(), calls.end(), [from_ns](const WaitSpan& span) {
    return span.to_ns <= from_ns;
  });
  for (; call != calls.end() && call->from_ns < to_ns; ++call) {
    const uint64_t begin = std::max(call->from_ns, at);
    const uint64_t end = std::min(call->to_ns, to_ns);
    AddPiece(at, begin, nullptr);
    AddPiece(begin, end, &*call);
    at = std::max(at, end);
  }
  AddPiece(at, to_ns, nullptr);
}

void VerdictLine::AddAt(const WaitSpan& call, const VerdictShare& share) {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&call](const Piece& of) { return of.call == &call; });
  if (piece == pieces_.end()) return AddRest(share);
  AddShare(share, &piece->stretch.shares);
}

void VerdictLine::AddRest(const VerdictShare& share) {
  const auto between = [](const Piece& piece) { return piece.call == nullptr; };
  const bool any = std::any_of(pieces_.begin(), pieces_.end(), between);
  uint64_t length = 0;
  for (const Piece& piece : pieces_) {
    if (!any || between(piece)) length += Length(piece.stretch);
  }
  uint64_t left_length = length, left_ns = share.ns;
  for (Piece& piece : pieces_) {
    if (any && !between(piece)) continue;
    VerdictShare part = share;
    part.ns = static_cast<uint64_t>(static_cast<double>(left_ns) *
                                    static_cast<double>(Length(piece.stretch)) /
                                    static_cast<double>(left_length));
    left_length -= Length(piece.stretch);
    if (left_length == 0) part.ns = left_ns;
    left_ns -= part.ns;
    AddShare(part, &piece.stretch.shares);
  }
}

// What nothing was spent in belongs to its neighbours.
void VerdictLine::EndPart() {
  const uint64_t from_ns = pieces_.front().stretch.from_ns;
  VerdictStretch* last = nullptr;  // that something was spent in
  for (Piece& piece : pieces_) {
    if (piece.stretch.shares.empty()) continue;
    if (last == nullptr) {
      piece.stretch.from_ns = from_ns;
    } else {
      last->to_ns = piece.stretch.from_ns;
      Append(std::move(*last));
    }
    last = &piece.stretch;
  }
  if (last == nullptr) return;  // nothing was added
  last->to_ns = part_to_ns_;
  Append(std::move(*last));
}

void VerdictLine::Append(VerdictStretch&& stretch) {
  const bool follows = !stretches_.empty() && stretches_.back().to_ns == stretch.from_ns;
  const bool joins =
      follows && (OfOneKind(stretches_.back(), stretch) || Length(stretches_.back()) < least_ns_);
  if (!joins) {
    stretches_.push_back(std::move(stretch));
    return;
  }
  Join(&stretches_.back(), stretch);
  // A short stretch may have kept two of one kind apart.
  if (stretches_.size() < 2) return;
  VerdictStretch& before = stretches_[stretches_.size() - 2];
  if (before.to_ns != stretches_.back().from_ns || !OfOneKind(before, stretches_.back())) return;
  Join(&before, stretches_.back());
  stretches_.pop_back();
}

}  // namespace jankbox
