// The judge of traces, on a real trace and on what is left of it when it is broken.
#include "tests/importer/trace_judge.h"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/importer/judged_reports.h"
#include "tests/perfetto/trace.pb.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testproto::Trace;
using testproto::TracePacket;
using testproto::TrackEvent;

class TraceJudgeTest : public JudgedReportsTest {
 protected:
  void SetUp() override {
    JudgedReportsTest::SetUp();
    if (IsSkipped()) return;
    const Outcome outcome = RunProgram({Binary("sdk_driver"), Folder("spool"), "slices"},
                                       {{"JANKBOX_OPTIONS", "ftrace=off"}});
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const std::vector<proto::Report> reports = Reports(Folder("spool"));
    ASSERT_EQ(reports.size(), 1u);
    const std::string plain = Export(Folder("spool") + "/" + reports[0].id() + kReportFileSuffix);
    whole_ = ReadFile(plain, size_t{64} << 20).value();
    ASSERT_TRUE(trace_.ParseFromString(whole_));
  }

  std::vector<std::string> Objections(const std::string& trace, const std::string& truth) const {
    const std::string path = Folder("judged.pftrace");
    std::ofstream(path, std::ios::binary) << trace;
    return testing::JudgeTrace(path, truth).objections;
  }
  // The last packet with an event of that type.
  int LastOf(TrackEvent::Type type) const {
    for (int i = trace_.packet_size() - 1; i >= 0; --i) {
      if (trace_.packet(i).track_event().type() == type) return i;
    }
    return -1;
  }
  // Of a sequence of its own, in BOOTTIME.
  TracePacket* AddPacket(Trace* trace) const {
    TracePacket* packet = trace->add_packet();
    packet->set_trusted_packet_sequence_id(999'000 + static_cast<uint32_t>(trace->packet_size()));
    packet->set_sequence_flags(TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    packet->set_first_packet_on_sequence(true);
    packet->set_timestamp(kTimeNs);
    return packet;
  }
  uint64_t ThreadTrack() const {
    for (const TracePacket& packet : trace_.packet()) {
      if (packet.track_descriptor().has_thread()) return packet.track_descriptor().uuid();
    }
    return 0;
  }

  static constexpr uint64_t kTimeNs = 3'600'000'000'000'000;  // after all that the trace has
  std::string whole_;
  Trace trace_;
};

TEST_F(TraceJudgeTest, WholeTraceIsGood) { EXPECT_THAT(Objections(whole_, whole_), IsEmpty()); }

TEST_F(TraceJudgeTest, TraceThatEndsWithinAPacketIsRefused) {
  for (const size_t missing : {size_t{1}, whole_.size() / 2, whole_.size() - 1}) {
    const std::string cut = whole_.substr(0, whole_.size() - missing);
    if (Trace().ParseFromString(cut)) continue;  // between two packets
    EXPECT_THAT(Objections(cut, whole_), ElementsAre(HasSubstr("refused: byte "))) << missing;
  }
}

TEST_F(TraceJudgeTest, TraceThatEndsBetweenTwoPacketsDiffersFromTheWhole) {
  Trace cut = trace_;
  cut.mutable_packet()->RemoveLast();
  EXPECT_THAT(Objections(cut.SerializeAsString(), whole_),
              Contains(StartsWith("count packets: trace_processor has ")));
  cut.mutable_packet()->DeleteSubrange(cut.packet_size() / 2, cut.packet_size() / 2);
  EXPECT_THAT(Objections(cut.SerializeAsString(), whole_), Contains(StartsWith("count slices: ")));
}

TEST_F(TraceJudgeTest, EmptyFileIsRefused) {
  EXPECT_THAT(Objections("", whole_), ElementsAre("refused: it is empty"));
}

// trace_processor takes it without a word.
TEST_F(TraceJudgeTest, EndWithoutItsStartIsTheStrictReadersToFind) {
  Trace broken = trace_;
  TracePacket* packet = AddPacket(&broken);
  packet->mutable_track_event()->set_type(TrackEvent::TYPE_SLICE_END);
  packet->mutable_track_event()->set_track_uuid(ThreadTrack());
  const std::string bytes = broken.SerializeAsString();
  EXPECT_THAT(Objections(bytes, bytes),
              Contains(HasSubstr("the strict reader: slice end without its begin")));
}

TEST_F(TraceJudgeTest, StartWithoutItsEndIsAnOpenSliceToBoth) {
  Trace broken = trace_;
  const int end = LastOf(TrackEvent::TYPE_SLICE_END);
  ASSERT_GE(end, 0);
  broken.mutable_packet(end)->clear_track_event();
  const std::string bytes = broken.SerializeAsString();
  const std::vector<std::string> objections = Objections(bytes, bytes);
  EXPECT_THAT(objections, Contains(HasSubstr("the strict reader: slice without its end")));
  EXPECT_THAT(objections,
              Contains("count open_slices: trace_processor has 1, the strict reader 0"));
}

TEST_F(TraceJudgeTest, SampleWithoutAStackIsNoLossAndOneMoreIsOne) {
  Trace with_sample = trace_;
  AddPacket(&with_sample)->mutable_perf_sample()->set_tid(1);
  const std::string bytes = with_sample.SerializeAsString();
  EXPECT_THAT(Objections(bytes, bytes), IsEmpty());
  AddPacket(&with_sample)->mutable_perf_sample()->set_tid(1);
  EXPECT_THAT(Objections(with_sample.SerializeAsString(), bytes),
              Contains("loss stackprofile_invalid_callstack_id: trace_processor has 2, the strict "
                       "reader 1"));
}

// Each count: what is added to the truth is missing in the trace that is judged.
TEST_F(TraceJudgeTest, WhatOnlyTheTruthHasIsNamed) {
  const auto add_frame = [&](Trace* truth, bool actual) {
    auto* start = AddPacket(truth)->mutable_frame_timeline_event();
    const auto fill = [](auto* frame) {
      frame->set_cookie(-1);
      frame->set_token(1);
      frame->set_display_frame_token(1);
      frame->set_pid(1);
    };
    if (actual) {
      fill(start->mutable_actual_surface_frame_start());
    } else {
      fill(start->mutable_expected_surface_frame_start());
    }
    AddPacket(truth)->mutable_frame_timeline_event()->mutable_frame_end()->set_cookie(-1);
  };
  const auto add_kernel_event = [&](Trace* truth) {
    AddPacket(truth)->mutable_system_info()->mutable_utsname()->set_release("6.1.0");
    auto* bundle = AddPacket(truth)->mutable_ftrace_events();
    bundle->set_cpu(0);
    auto* event = bundle->add_event();
    event->set_timestamp(kTimeNs);
    event->set_pid(0);
    return event;
  };
  const auto add_flow = [&](Trace* truth) {
    for (const bool ends : {false, true}) {
      auto* event = AddPacket(truth)->mutable_track_event();
      event->set_type(TrackEvent::TYPE_INSTANT);
      event->set_track_uuid(ThreadTrack());
      event->set_name("planted");
      if (ends) event->add_terminating_flow_ids(1);
      if (!ends) event->add_flow_ids(1);
    }
  };
  const std::map<std::string, std::function<void(Trace*)>> additions = {
      {"flows", add_flow},
      {"slices",
       [&](Trace* truth) { AddPacket(truth)->mutable_trigger()->set_trigger_name("planted"); }},
      {"samples", [&](Trace* truth) { AddPacket(truth)->mutable_perf_sample()->set_tid(1); }},
      {"expected_frames", [&](Trace* truth) { add_frame(truth, false); }},
      {"actual_frames", [&](Trace* truth) { add_frame(truth, true); }},
      {"sched",
       [&](Trace* truth) { add_kernel_event(truth)->mutable_sched_switch()->set_next_pid(1); }},
      {"wakings",
       [&](Trace* truth) { add_kernel_event(truth)->mutable_sched_waking()->set_pid(1); }},
  };
  for (const auto& [name, add] : additions) {
    Trace truth = trace_;
    add(&truth);
    EXPECT_THAT(Objections(whole_, truth.SerializeAsString()),
                Contains(StartsWith("count " + name + ": ")))
        << name;
  }
}

}  // namespace
}  // namespace jankbox
