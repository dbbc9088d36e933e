#include "tracer/snapshot/incident_tracks.h"

#include <span>
#include <string>

#include "base/utf8.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/annotated_slices.h"
#include "tracer/snapshot/sequence_ids.h"

namespace jankbox {
namespace {

// Viewers that know no tracks above processes list all of them together, and merge equal names.
constexpr std::string_view kIncidentTrack = "Jankbox incident";
constexpr std::string_view kVerdictTrack = "Jankbox verdict";
constexpr std::string_view kCoverageTrack = "Jankbox coverage";

constexpr std::string_view kNoVerdict = "no verdict";
constexpr std::string_view kNotRecorded = "calls not recorded";

void AnnotateFact(Annotations& annotations, const SnapshotFact& fact) {
  switch (fact.kind) {
    case SnapshotFact::Kind::kText:
      return annotations.Text(fact.name, fact.text);
    case SnapshotFact::Kind::kVerbatim:
      return annotations.Verbatim(fact.name, fact.text);
    case SnapshotFact::Kind::kNumber:
      return annotations.Number(fact.name, static_cast<int64_t>(fact.value));
    case SnapshotFact::Kind::kMs:
      return annotations.Ms(fact.name, fact.value);
  }
}

void AnnotateFacts(Annotations& annotations, std::span<const SnapshotFact> facts) {
  for (size_t i = 0; i < facts.size();) {
    const std::string& group = facts[i].group;
    if (group.empty()) {
      AnnotateFact(annotations, facts[i++]);
      continue;
    }
    annotations.Group(group, [&](Annotations& entries) {
      for (; i < facts.size() && facts[i].group == group; ++i) AnnotateFact(entries, facts[i]);
    });
  }
}

}  // namespace

void IncidentTracks::Describe() {
  if (empty()) return;
  const uint64_t uuid = TrackUuid(TrackKind::kIncident, pid_, 0);
  WriteTrack(writer_, {.uuid = uuid,
                       .parent_uuid = 0,
                       .name = kIncidentTrack,
                       .description = incident_.description,
                       .ranks_children = true});
  WriteTrack(writer_,
             {.uuid = TrackUuid(TrackKind::kVerdict, pid_, 0),
              .parent_uuid = uuid,
              .name = kVerdictTrack,
              .description = "The time of the incident's thread, as the verdict splits it.",
              .rank = 1});
  if (incident_.gaps.empty()) return;
  WriteTrack(writer_,
             {.uuid = TrackUuid(TrackKind::kCoverage, pid_, 0),
              .parent_uuid = uuid,
              .name = kCoverageTrack,
              .description = "Times of the incident from which calls of its thread are missing.",
              .rank = 2});
}

void IncidentTracks::Write() {
  if (empty()) return;
  WriteIncident();
  WriteVerdict();
  WriteCoverage();
}

void IncidentTracks::WriteIncident() {
  const std::string trigger_name = ToValidUtf8("jankbox." + incident_.kind);
  const AnnotatedSlices::Slice slice = {TrackUuid(TrackKind::kIncident, pid_, 0), incident_.from_ns,
                                        incident_.to_ns,
                                        incident_.title.empty() ? trigger_name : incident_.title};
  AnnotatedSlices sequence(writer_, kIncidentSequence);
  sequence.Begin(slice, [&](Annotations& annotations) {
    annotations.Text("kind", incident_.kind);
    annotations.Verbatim("report_id", incident_.report_id);
    annotations.Number("tid", incident_.tid);
    AnnotateFacts(annotations, incident_.facts);
    if (!incident_.blamed_stack.empty()) {
      annotations.List("blamed_stack", incident_.blamed_stack);
    }
  });
  sequence.Packet(AnnotatedSlices::ToNs(slice), [&](ProtoWriter& packet) {
    packet.Message(perfetto::trace_packet::kTrigger, [&](ProtoWriter& message) {
      message.Bytes(perfetto::trigger::kTriggerName, trigger_name);
      message.Bytes(perfetto::trigger::kProducerName, "jankbox");
    });
  });
  sequence.End(slice);
}

// A track above the processes needs events below it, or viewers move it into a closed group.
void IncidentTracks::WriteVerdict() {
  const uint64_t uuid = TrackUuid(TrackKind::kVerdict, pid_, 0);
  AnnotatedSlices sequence(writer_, kVerdictSequence);
  if (incident_.stretches.empty()) {
    sequence.Write({uuid, incident_.from_ns, incident_.to_ns, kNoVerdict}, [](Annotations&) {});
  }
  for (const SnapshotStretch& stretch : incident_.stretches) {
    sequence.Write({uuid, stretch.from_ns, stretch.to_ns, stretch.name},
                   [&](Annotations& annotations) {
                     if (!stretch.detail.empty()) annotations.Text("detail", stretch.detail);
                     AnnotateFacts(annotations, stretch.parts);
                   });
  }
}

void IncidentTracks::WriteCoverage() {
  const uint64_t uuid = TrackUuid(TrackKind::kCoverage, pid_, 0);
  AnnotatedSlices sequence(writer_, kCoverageSequence);
  for (const SnapshotGap& gap : incident_.gaps) {
    sequence.Write({uuid, gap.from_ns, gap.to_ns, kNotRecorded},
                   [&](Annotations& annotations) { annotations.Text("reason", gap.reason); });
  }
}

}  // namespace jankbox
