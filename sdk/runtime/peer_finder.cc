#include "sdk/runtime/peer_finder.h"

namespace jankbox {
namespace {

// A lock has an owner; a disk and a timer need none.
bool MayBeForAnother(WaitReason wait) {
  return wait != WaitReason::kLock && wait != WaitReason::kDisk && wait != WaitReason::kSleeping;
}

}  // namespace

void PeerFinder::Look(uint64_t now_ns, uint64_t begin_ticks, ThreadReading* reading,
                      VerdictTimeline* timeline) {
  if (!MayBeForAnother(reading->wait)) return;
  const bool same = begin_ticks == last_begin_ticks_ && IsSameWait(last_, *reading);
  if (!same) {
    if (now_ns < next_ns_) return;
    const WaitPeers found = source_->PeersOf(*reading, begin_ticks);
    const bool seen = found.peer.kind != WaitPeer::Kind::kNone;
    next_ns_ = now_ns + (seen ? kIntervalNs : kSearchIntervalNs);
    // If the thread went on, its descriptors and its memory may be another wait's.
    if (!IsSameWait(*reading, source_->Read())) return;
    for (const WaitPeer& server : found.servers) timeline->Keep(now_ns, server);
    last_ = *reading;
    last_.peer = timeline->Keep(now_ns, found.peer);
    last_begin_ticks_ = begin_ticks;
  }
  reading->peer = last_.peer;
}

}  // namespace jankbox
