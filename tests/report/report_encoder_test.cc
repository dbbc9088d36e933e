#include "report/report_encoder.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <set>

#include "report/report.pb.h"
#include "tests/report/sample_report.h"

namespace jankbox {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

proto::Report Parsed(const Report& report) {
  proto::Report parsed;
  EXPECT_TRUE(parsed.ParseFromString(EncodeReport(report)));
  return parsed;
}

// Fails for each field of the schema that is not in `message`, at any depth; collects the numbers.
void ExpectEveryFieldSet(const Message& message, std::multiset<uint64_t>* numbers) {
  const google::protobuf::Reflection* reflection = message.GetReflection();
  const Descriptor* descriptor = message.GetDescriptor();
  EXPECT_TRUE(reflection->GetUnknownFields(message).empty()) << descriptor->full_name();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const bool set = field->is_repeated() ? reflection->FieldSize(message, field) > 0
                                          : reflection->HasField(message, field);
    EXPECT_TRUE(set) << field->full_name() << " is in the schema but never encoded";
    if (!set) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int k = 0; k < count; ++k) {
        ExpectEveryFieldSet(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, k)
                                                 : reflection->GetMessage(message, field),
                            numbers);
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      numbers->insert(reflection->GetUInt64(message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
      numbers->insert(reflection->GetUInt32(message, field));
    }
  }
}

void FillMessage(uint32_t first, proto::LoopMessage* message) {
  message->set_name(first);
  message->set_before_ns(first + 1);
  message->set_wall_ns(first + 2);
  message->set_count(first + 3);
}

void FillVerdict(proto::Verdict* verdict) {
  verdict->set_running_ns(1001);
  verdict->set_runnable_ns(1002);
  verdict->set_lock_ns(1003);
  verdict->set_disk_ns(1004);
  verdict->set_fault_ns(1005);
  verdict->set_ipc_ns(1006);
  verdict->set_gc_ns(1007);
  verdict->set_sleeping_ns(1008);
  verdict->set_blocked_ns(1009);
  verdict->set_unknown_ns(uint64_t{1} << 63);
  verdict->set_summary("waited for a lock");
  verdict->add_sources("schedstat");
  verdict->add_sources("syscall samples");
  proto::Verdict::Share* share = verdict->add_shares();
  share->set_name("fault");
  share->set_ns(1011);
  share->set_source("fault count");
  share->set_estimate(true);
  share->set_detail("in page faults");
  verdict->set_lock_owner_tid(4213);
  verdict->set_lock_owner("worker-3");
  proto::Frame* frame = verdict->add_lock_owner_frames();
  frame->set_function("ImageCache::Decode");
  frame->set_module("app");
  frame->set_rel_pc(4023);
  frame->set_build_id("beef03");
}

void FillLosses(proto::Losses* losses) {
  losses->set_overwritten_chunks(2001);
  losses->set_torn_chunks(2002);
  losses->set_dropped_events(2003);
  losses->set_truncated_stacks(2004);
  losses->set_lost_samples(2005);
  losses->set_unmatched_ends(2006);
  losses->set_open_slices(2007);
  losses->set_suppressed_incidents(2008);
  losses->set_spool_dropped_reports(2009);
  losses->set_unnamed_methods(2010);
  losses->set_corrupt_chunks(2011);
  losses->set_repaired_slices(2012);
  losses->set_unknown_markers(2013);
  losses->set_lost_kernel_events(2014);
}

void FillFrames(proto::Report* report) {
  proto::Frame* frame = report->add_top_frames();
  frame->set_function("pthread_mutex_lock");
  frame->set_module("libc.so.6");
  frame->set_rel_pc(0x9a3f0);
  frame->set_build_id("beef01");
  frame = report->add_top_frames();
  frame->set_function("Größe::berechnen()");
  frame->set_module("[method]");
  frame->set_rel_pc(0xffff'ffff'ffff'fff0);
  frame->set_build_id("beef02");
}

void FillFrameNumbers(proto::Report* filled) {
  filled->set_frame_source("gtk");
  proto::JankyFrame* janky = filled->mutable_janky_frame();
  janky->set_vsync_id(6001);
  janky->set_total_ns(6002);
  janky->set_jitter_ns(6003);
  janky->set_deadline_overrun_ns(6004);
  janky->set_input_ns(6005);
  janky->set_animation_ns(6006);
  janky->set_insets_ns(6007);
  janky->set_traversal_ns(6008);
  janky->set_commit_ns(6009);
  janky->set_band("middle");
  janky->set_scene("Cart");
  janky->set_presented_late_ns(6010);
  proto::SceneFrames* scene = filled->add_scenes();
  scene->set_scene("Checkout");
  scene->set_frames(6011);
  scene->set_from_ns(6012);
  scene->set_to_ns(6013);
  scene->set_fps_milli(6014);
  scene->set_best(6015);
  scene->set_normal(6016);
  scene->set_middle(6017);
  scene->set_high(6018);
  scene->set_frozen(6019);
  scene->set_dropped(6020);
  scene->set_janky(6021);
  scene->set_above_700_ms(6022);
  scene->set_discarded(6023);
  scene->set_presented_late(6024);
  scene->set_input_ns(6025);
  scene->set_animation_ns(6026);
  scene->set_insets_ns(6027);
  scene->set_traversal_ns(6028);
  scene->set_commit_ns(6029);
  scene->set_jitter_ns(6030);
  scene->set_p50_ns(6031);
  scene->set_p90_ns(6032);
  scene->set_p95_ns(6033);
  scene->set_p99_ns(6034);
  scene->set_interval_ns(6035);
  scene->set_source("sdl");
  proto::State* state = filled->add_states();
  state->set_key("screen");
  state->set_value("Feed");
  state->set_from_ns(6036);
  state->set_to_ns(6037);
  filled->set_uncounted_frames(6038);
  proto::RenderWork* work = filled->add_render_work();
  work->set_name("upload texture: atlas");
  work->set_tid(6039);
  work->set_count(6040);
  work->set_duration_ns(6041);
  work->set_open(true);
}

// FilledReport() through the generated setters.
proto::Report ExpectedReport() {
  proto::Report report;
  report.set_id("01890a5d-ac96-774b-bcce-b302099a8057");
  report.set_revision(3);
  report.set_kind(proto::ANR);
  report.set_duration_ns(5'912'345'678);
  report.set_ongoing(true);
  report.set_what("GtkButton::clicked");
  report.set_process("gedit");
  report.set_pid(4211);
  report.set_thread("main-thread");
  report.set_tid(4212);
  report.set_fingerprint("00112233445566778899aabbccddeeff");
  FillVerdict(report.mutable_verdict());
  FillFrames(&report);
  report.mutable_window()->set_from_ns(20'000'000'001);
  report.mutable_window()->set_to_ns(30'000'000'002);
  report.mutable_window()->set_to_realtime_ns(1'772'366'400'123'456'789);
  FillLosses(report.mutable_losses());
  report.mutable_self_cost()->set_cpu_ns(3001);
  report.mutable_self_cost()->set_ring_bytes(3002);
  report.mutable_self_cost()->set_start_us(3003);
  report.set_sampler("perf+proc");
  report.set_loop("glib");
  report.set_sample_count(4001);
  report.set_app_name("org.gnome.gedit");
  report.set_app_version("43.2");
  report.set_os("Linux 6.1.0 x86_64");
  report.set_sdk_version("0.1.0");
  report.set_frame_dropped(4002);
  report.set_frame_interval_ns(16'666'667);
  report.set_clock("tsc");
  report.set_ring_in_memory_only(true);
  report.add_notes("no perf events");
  report.add_notes("no schedstat");
  report.set_sched_switches(4003);
  report.mutable_self_cost()->set_recording_ns(3004);
  report.mutable_self_cost()->set_uptime_ns(3005);
  report.mutable_self_cost()->set_cpu_budget_permille(3006);
  proto::Recording* recording = report.add_recording();
  recording->set_mode("coarse");
  recording->set_reason("over budget");
  recording->set_from_ns(20'000'000'003);
  recording->set_to_ns(30'000'000'004);
  report.set_clock_error_ns(4004);
  proto::Atrace* atrace = report.mutable_atrace();
  atrace->set_state("on");
  atrace->set_tags(4005);
  atrace->set_added_tags(4006);
  atrace->set_categories("always gfx");
  atrace->set_library("libcutils.so");
  atrace->set_start_ns(4007);
  proto::Refusal* refusal = report.add_refusals();
  refusal->set_reason("stopped");
  refusal->set_count(4008);
  refusal->set_last_ns(4009);
  proto::History* history = report.mutable_history();
  history->set_from_ns(5001);
  history->set_count(5002);
  history->set_busy_ns(5003);
  history->set_left_out(5004);
  history->add_names("scroll");
  FillMessage(5005, history->add_longest());
  FillMessage(5009, history->add_last());
  report.set_idle_callback("prefetch");
  report.set_idle_callback_ns(5013);
  report.set_input_wait_ns(5014);
  FillFrameNumbers(&report);
  report.set_held_ns(4501);
  report.set_background(true);
  report.set_anr_limit_ns(4502);
  proto::ThreadAtAnr* thread = report.add_threads();
  thread->set_tid(4503);
  thread->set_name("worker");
  thread->set_state("S");
  thread->set_wait("lock");
  thread->set_waits_for_tid(4504);
  thread->set_deadlocked(true);
  proto::Frame* frame = thread->add_frames();
  frame->set_function("futex_wait");
  frame->set_module("libc.so.6");
  frame->set_rel_pc(4505);
  frame->set_build_id("beef03");
  report.set_threads_without_stack(4506);
  report.set_threads_not_listed(4507);
  report.set_sigquits(4508);
  proto::Method* method = report.add_methods();
  method->set_function("Feed::Bind");
  method->set_depth(4010);
  method->set_count(4011);
  method->set_duration_ns(4012);
  method->set_open(true);
  report.set_methods_left_out(4013);
  report.set_exemplar("worst");
  report.set_repeat_count(4014);
  proto::Attribute* attribute = report.add_attributes();
  attribute->set_key("cart");
  attribute->set_value("full");
  proto::Startup* startup = report.mutable_startup();
  startup->set_cold(true);
  startup->set_recorder_ns(4019);
  startup->set_first_dispatch_ns(4020);
  startup->set_first_frame_ns(4021);
  startup->set_drawn_ns(4022);
  proto::Extra* extra = report.add_extra();
  extra->set_function("Feed::Decode");
  extra->set_extra_ns(4015);
  extra->set_usual_ns(4016);
  report.set_healthy_messages(4017);
  report.set_healthy_median_ns(4018);
  return report;
}

TEST(ReportEncoder, EveryFieldOfTheSchemaIsWritten) {
  std::multiset<uint64_t> numbers;
  ExpectEveryFieldSet(Parsed(FilledReport()), &numbers);
  EXPECT_EQ(std::set<uint64_t>(numbers.begin(), numbers.end()).size(), numbers.size())
      << "two fields of the sample hold the same number";
}

TEST(ReportEncoder, AgreesWithTheGeneratedClasses) {
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(ExpectedReport(), Parsed(FilledReport()))) << difference;
}

TEST(ReportEncoder, BytesAreThoseOfLibprotobuf) {
  EXPECT_EQ(EncodeReport(FilledReport()), ExpectedReport().SerializeAsString());
}

TEST(ReportEncoder, EveryKindHasItsNumber) {
  for (int kind = proto::Kind_MIN; kind <= proto::Kind_MAX; ++kind) {
    Report report;
    report.kind = static_cast<ReportKind>(kind);
    EXPECT_EQ(Parsed(report).kind(), kind);
  }
  EXPECT_EQ(static_cast<int>(ReportKind::kInputLatency), proto::Kind_MAX);
}

TEST(ReportEncoder, DefaultsAreLeftOut) {
  Report report;
  report.revision = 0;
  EXPECT_EQ(EncodeReport(report), "");
}

TEST(ReportEncoder, NegativePidSurvives) {
  Report report;
  report.pid = -1;
  report.tid = INT32_MIN;
  EXPECT_EQ(Parsed(report).pid(), -1);
  EXPECT_EQ(Parsed(report).tid(), INT32_MIN);
}

TEST(ReportEncoder, MalformedUtf8IsReplaced) {
  const std::pair<const char*, const char*> cases[] = {
      {"caf\xc3", "caf\xef\xbf\xbd"},                            // cut by TASK_COMM_LEN
      {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},                  // never in UTF-8
      {"a\xc0\x80z", "a\xef\xbf\xbd\xef\xbf\xbdz"},              // overlong NUL
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // surrogate
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xf0\x9f\x90\xa2 ok \xc3\xa9", "\xf0\x9f\x90\xa2 ok \xc3\xa9"},
  };
  for (const auto& [raw, clean] : cases) {
    Report report;
    report.thread = raw;
    EXPECT_EQ(Parsed(report).thread(), clean);
  }
}

TEST(ReportEncoder, EveryPairOfBytesGivesAMessageThatParses) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      Report report;
      report.what = {static_cast<char>(first), static_cast<char>(second)};
      proto::Report parsed;
      ASSERT_TRUE(parsed.ParseFromString(EncodeReport(report))) << first << " " << second;
    }
  }
}

TEST(ReportEncoder, HugeTextsAndListsAreCutByRule) {
  Report report;
  report.what = std::string(1023, 'x') + "é" + std::string(1 << 20, 'y');
  report.top_frames.assign(10'000, {std::string(5000, 'f'), std::string(5000, 'm'), 1, "b"});
  report.notes.assign(1000, std::string(5000, 'n'));
  report.history.count = 100'000;
  report.history.names.assign(10'000, std::string(56, 'm'));
  report.history.last.assign(100'000, {UINT32_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX});
  const std::string bytes = EncodeReport(report);
  EXPECT_LT(bytes.size(), 1u << 20);
  const proto::Report parsed = Parsed(report);
  EXPECT_EQ(parsed.what(), std::string(1023, 'x'));  // not cut inside the é
  EXPECT_EQ(parsed.top_frames_size(), 256);
  EXPECT_EQ(parsed.notes_size(), 64);
  EXPECT_EQ(parsed.history().names_size(), 512);
  EXPECT_EQ(parsed.history().last_size(), 5000);
}

TEST(SkippableFrame, HoldsMagicLengthAndContent) {
  EXPECT_EQ(SkippableFrame("abc"), std::string("\x50\x2A\x4D\x18\x03\0\0\0abc", 11));
}

}  // namespace
}  // namespace jankbox
