// Names and groups of reports, from debug files and mappings that arrive before and after them.
#include <algorithm>
#include <map>
#include <set>

#include "report/report_file.h"
#include "symbolize/packets/byte_source.h"
#include "symbolize/packets/packet_stream.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/named_program.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

class SymbolsTest : public CollectorTest {
 protected:
  std::string Store(const proto::Report& report) const {
    EXPECT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
    return report.id();
  }
  json Find(const std::string& id) const { return GetJson("/api/v1/reports/" + id); }
  std::string GroupOf(const std::string& id) const {
    return Find(id).at("identity").at("group_key");
  }
  std::map<std::string, json> Groups() const {
    std::map<std::string, json> groups;
    const json all = GetJson("/api/v1/groups").at("groups");
    for (const json& group : all) groups[group.at("key")] = group;
    return groups;
  }
  json ListOf(const std::string& group) const { return GetJson("/api/v1/reports?group=" + group); }

  const NamedProgram first_{1};
  const NamedProgram second_{2};
};

TEST_F(SymbolsTest, SecondReleaseIsInTheGroupsOfTheFirstOnceBothHaveNames) {
  std::map<std::string, std::string> ids;  // by release and function
  for (const std::string& function : NamedProgram::Functions()) {
    ids["1 " + function] = Store(first_.Report(function));
    ids["2 " + function] = Store(second_.Report(function));
  }
  ASSERT_EQ(Groups().size(), 1u) << "one module, cause and message";
  const std::string provisional = Groups().begin()->first;
  EXPECT_EQ(Groups().begin()->second.at("provisional"), true);

  EXPECT_EQ(SymbolsResult(first_.Bytes()), "stored");
  WaitUntilNamed();
  EXPECT_EQ(Groups().size(), 4u) << "three of the first release, and the second's";
  EXPECT_EQ(ListOf(provisional).at("reports").size(), 3u);
  EXPECT_EQ(ListOf(provisional).at("groups"), json({provisional}));
  EXPECT_EQ(ListOf(provisional).at("moved_to").size(), 3u);

  EXPECT_EQ(SymbolsResult(second_.Bytes()), "stored");
  WaitUntilNamed();
  const std::map<std::string, json> groups = Groups();
  ASSERT_EQ(groups.size(), 3u);
  std::set<std::string> fingerprints;
  for (const std::string& function : NamedProgram::Functions()) {
    const std::string group = GroupOf(ids["1 " + function]);
    EXPECT_EQ(GroupOf(ids["2 " + function]), group) << function;
    ASSERT_TRUE(groups.contains(group)) << function;
    EXPECT_EQ(groups.at(group).at("provisional"), false);
    EXPECT_EQ(groups.at(group).at("incidents"), 2);
    EXPECT_EQ(ListOf(group).at("reports").size(), 2u);
    for (const char* release : {"1 ", "2 "}) {
      fingerprints.insert(Find(ids[release + function]).at("fingerprint"));
    }
  }
  EXPECT_EQ(fingerprints.size(), 6u) << "no exact key of one is one of the other";
  const json old_link = ListOf(provisional);
  EXPECT_EQ(old_link.at("reports").size(), 6u);
  EXPECT_EQ(old_link.at("groups").size(), 3u);
  EXPECT_EQ(old_link.at("moved_to"), json::array());
}

TEST_F(SymbolsTest, ReportShowsFunctionsLinesAndInlinedCalls) {
  const std::string id = Store(first_.Report("decode_image"));
  const std::string before = GroupOf(id);
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  WaitUntilNamed();
  const json report = Find(id);
  for (const json& frames : {report.at("top_frames"), report.at("identity").at("own_frames")}) {
    ASSERT_EQ(frames.size(), 3u) << frames;
    EXPECT_EQ(frames[0].at("function"), "fill_rows");
    EXPECT_EQ(frames[0].at("inlined"), true);
    EXPECT_EQ(frames[1].at("function"), "decode_image");
    EXPECT_EQ(frames[1].at("inlined"), false);
    EXPECT_EQ(frames[2].at("function"), "handle_click");
    for (const json& frame : frames) {
      EXPECT_TRUE(frame.at("file").get<std::string>().ends_with("named_program.c")) << frame;
      EXPECT_GT(frame.at("line"), 0) << frame;
      EXPECT_EQ(frame.at("build_id"), first_.build_id());
    }
  }
  EXPECT_EQ(report.at("identity").at("blamed_function"), "fill_rows");
  EXPECT_EQ(report.at("identity").at("provisional"), false);
  EXPECT_EQ(report.at("verdict").at("summary"), "98 % running, in fill_rows");
  EXPECT_EQ(Groups().at(GroupOf(id)).at("title"), "fill_rows");
  EXPECT_NE(GroupOf(id), before);
  EXPECT_EQ(ListOf(before).at("groups"), json({GroupOf(id)})) << "an old link";
  EXPECT_EQ(ListOf(before).at("reports")[0].at("id"), id);

  const httplib::Result file = NewClient().Get("/api/v1/reports/" + id + "/trace");
  const Result<proto::Report> sent = ParseReport(file->body);
  ASSERT_TRUE(sent.ok()) << sent.status().message();
  ASSERT_EQ(sent->top_frames_size(), 3);
  EXPECT_EQ(sent->top_frames(0).function(), "fill_rows") << "the file has the names, too";
}

TEST_F(SymbolsTest, ReportThatArrivesAfterItsSymbolsGetsNamesSoon) {
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  const std::string id = Store(first_.Report("lay_out_page"));
  WaitUntilNamed();
  EXPECT_EQ(Find(id).at("top_frames")[1].at("function"), "lay_out_page");
  EXPECT_EQ(Groups().size(), 1u);
  EXPECT_EQ(Groups().begin()->second.at("provisional"), false);
}

TEST_F(SymbolsTest, LaterRevisionGetsItsNames) {
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  proto::Report report = first_.Report("lay_out_page");
  proto::Frame* frame = report.add_threads()->add_frames();
  *frame = report.top_frames(0);
  Store(report);
  WaitUntilNamed();
  report.clear_threads();
  report.set_revision(2);
  report.set_end_reason("SIGKILL");
  EXPECT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  WaitUntilNamed();
  const json shown = Find(report.id());
  EXPECT_EQ(shown.at("revision"), 2);
  EXPECT_EQ(shown.at("end_reason"), "SIGKILL");
  EXPECT_EQ(shown.at("top_frames")[1].at("function"), "lay_out_page");
  ASSERT_EQ(shown.at("threads").size(), 1u);
  EXPECT_EQ(shown.at("threads")[0].at("frames").size(), 2u) << "expanded once, from what was sent";
  EXPECT_EQ(UploadResult(Seal(report)), proto::UploadReply::DUPLICATE);
}

TEST_F(SymbolsTest, LinksLeadThroughTwoNamings) {
  proto::Report report = first_.Report("decode_image");
  report.mutable_identity()->mutable_own_frames(1)->set_build_id(second_.build_id());
  report.mutable_identity()->mutable_own_frames(1)->set_rel_pc(
      second_.Report("decode_image").identity().own_frames(1).rel_pc());
  report.mutable_identity()->mutable_own_frames(0)->set_function("decode_image");  // by .dynsym
  report.mutable_identity()->mutable_own_frames(1)->set_function("");
  const std::string id = Store(report);
  const std::string before = GroupOf(id);
  ASSERT_EQ(SymbolsResult(second_.Bytes()), "stored");
  WaitUntilNamed();
  const std::string between = GroupOf(id);
  ASSERT_NE(between, before);
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  WaitUntilNamed();
  const std::string now = GroupOf(id);
  ASSERT_NE(now, between) << "with the inlined call";
  EXPECT_EQ(ListOf(before).at("groups"), json({now}));
  EXPECT_EQ(ListOf(between).at("groups"), json({now}));
}

TEST_F(SymbolsTest, CountsGoWithTheirReports) {
  std::map<std::string, std::string> ids;
  for (const std::string& function : NamedProgram::Functions()) {
    proto::Report report = first_.Report(function);
    report.set_counted(true);
    ids[function] = Store(report);
  }
  proto::Counts counts;
  counts.set_format(1);
  counts.set_epoch("0195a3c2-7f01-7000-8000-000000000001");
  counts.set_seq(1);
  counts.set_begun("new");
  uint64_t incidents = 0;
  uint64_t all = 0;
  for (const auto& [function, id] : ids) {
    proto::Counter* counter = counts.add_counters();
    counter->set_key(Find(id).at("fingerprint"));
    incidents += 10;
    all += incidents;
    counter->set_incidents(incidents);
    counter->set_total_ns(incidents * 1'000'000'000);
    counter->set_max_ns(1'000'000'000);
    counter->set_kind(proto::SLOW_MESSAGE);
    proto::CounterBucket* bucket = counter->add_buckets();
    bucket->set_index(39);
    bucket->set_incidents(incidents);
  }
  ASSERT_EQ(NewClient()
                .Post("/api/v1/counts", counts.SerializeAsString(), "application/x-jankbox-counts")
                ->status,
            200);
  ASSERT_EQ(Groups().size(), 1u);
  EXPECT_EQ(Groups().begin()->second.at("incidents"), all);
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  WaitUntilNamed();
  ASSERT_EQ(Groups().size(), 3u);
  incidents = 0;
  for (const auto& [function, id] : ids) {
    incidents += 10;
    const json group = Groups().at(GroupOf(id));
    EXPECT_EQ(group.at("incidents"), incidents) << function;
    EXPECT_EQ(group.at("total_ms"), static_cast<double>(incidents) * 1000) << function;
  }
  // A further report of a known cause does not take the counts with it while it waits for its
  // names.
  proto::Report another = first_.Report(ids.begin()->first);
  another.set_counted(true);
  Store(another);
  const std::string group = GroupOf(ids.begin()->second);
  EXPECT_GE(Groups().at(group).at("incidents"), 9u) << "all but that report";
  uint64_t together = 0;
  for (const auto& [key, in] : Groups()) together += in.at("incidents").get<uint64_t>();
  EXPECT_EQ(together, all);
  WaitUntilNamed();
  EXPECT_EQ(Groups().at(group).at("incidents"), 10u);
}

TEST_F(SymbolsTest, MappingGivesJavaItsNames) {
  const auto report_of = [](const std::string& version, const std::string& method) {
    proto::Report report = SampleReport();
    report.set_app_name("com.example.notes");
    report.set_app_version(version);
    report.set_fingerprint(version + method);
    report.clear_top_frames();
    report.mutable_verdict()->set_summary("running, in " + method);
    proto::Identity* identity = report.mutable_identity();
    identity->set_app("com.example.notes");
    identity->set_cause("running");
    identity->set_message("android.view.View");
    identity->set_blamed_function(method);
    identity->add_own_frames()->set_function(method);
    report.add_methods()->set_function(method);
    proto::Attribute* stack = report.add_attributes();
    stack->set_key("java_stack_00");
    stack->set_value(method + "(SourceFile:7)");
    return report;
  };
  const std::string one = Store(report_of("1.0", "a.b.c"));
  const std::string two = Store(report_of("2.0", "d.e.f"));
  EXPECT_NE(GroupOf(one), GroupOf(two));
  const std::string before = GroupOf(two);
  const std::string mapping =
      "com.example.notes.Editor -> a.b:\n    5:9:void save():100:104 -> c\n";
  EXPECT_EQ(SymbolsResult(mapping, "?app=com.example.notes&version=1.0"), "stored");
  EXPECT_EQ(SymbolsResult("com.example.notes.Editor -> d.e:\n    5:9:void save():200:204 -> f\n",
                          "?app=com.example.notes&version=2.0"),
            "stored");
  WaitUntilNamed();
  const std::string group = GroupOf(one);
  EXPECT_EQ(GroupOf(two), group);
  ASSERT_EQ(Groups().size(), 1u);
  EXPECT_EQ(Groups().at(group).at("title"), "com.example.notes.Editor.save");
  const json report = Find(two);
  EXPECT_EQ(report.at("verdict").at("summary"), "running, in com.example.notes.Editor.save");
  EXPECT_EQ(report.at("methods")[0].at("function"), "com.example.notes.Editor.save");
  EXPECT_EQ(report.at("attributes")[0].at("value"),
            "com.example.notes.Editor.save(Editor.java:202)");
  EXPECT_EQ(ListOf(before).at("groups"), json({group}));
  const json symbols = GetJson("/api/v1/symbols").at("symbols");
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].at("contents"), "mapping");
  EXPECT_EQ(symbols[0].at("reports"), 1);
}

// R8 gives the classes and methods of each release other names.
TEST_F(SymbolsTest, TwelveRenamedMethodsAreInTwelveGroupsOnceBothMappingsAreThere) {
  constexpr int kMethods = 12;
  std::map<std::pair<int, int>, std::string> ids;  // by release and method
  std::string mappings[2];
  for (int release = 0; release < 2; ++release) {
    for (int i = 0; i < kMethods; ++i) {
      const std::string owner = std::string(1, static_cast<char>('a' + release)) + "." +
                                static_cast<char>('a' + (i + 5 * release) % kMethods);
      const std::string method = owner + "." + static_cast<char>('z' - i);
      mappings[release] += "com.example.Class" + std::to_string(i) + " -> " + owner +
                           ":\n    1:9:void work" + std::to_string(i) + "():100:108 -> " +
                           static_cast<char>('z' - i) + "\n";
      proto::Report report = SampleReport();
      report.set_app_name("com.example");
      report.set_app_version(std::to_string(release));
      report.set_fingerprint(method);
      report.clear_top_frames();
      proto::Identity* identity = report.mutable_identity();
      identity->set_app("com.example");
      identity->set_cause("running");
      identity->set_message("click");
      identity->set_blamed_function(method);
      identity->add_own_frames()->set_function(method);
      ids[{release, i}] = Store(report);
    }
  }
  EXPECT_EQ(Groups().size(), 24u);
  EXPECT_EQ(SymbolsResult(mappings[0], "?app=com.example&version=0"), "stored");
  EXPECT_EQ(SymbolsResult(mappings[1], "?app=com.example&version=1"), "stored");
  WaitUntilNamed();
  const std::map<std::string, json> groups = Groups();
  EXPECT_EQ(groups.size(), 12u);
  for (int i = 0; i < kMethods; ++i) {
    const std::string group = GroupOf(ids[{0, i}]);
    EXPECT_EQ(GroupOf(ids[{1, i}]), group) << i;
    EXPECT_EQ(groups.at(group).at("title"),
              "com.example.Class" + std::to_string(i) + ".work" + std::to_string(i));
    EXPECT_EQ(groups.at(group).at("incidents"), 2);
  }
}

// A trace with one sampled stack, of the program's frames.
std::string TraceOf(const proto::Report& report) {
  traceproto::Trace trace;
  traceproto::TracePacket* packet = trace.add_packet();
  packet->set_trusted_packet_sequence_id(1);
  packet->set_sequence_flags(traceproto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
  traceproto::InternedData* interned = packet->mutable_interned_data();
  std::string build_id;
  const std::string& hexadecimal = report.top_frames(0).build_id();
  for (size_t i = 0; i < hexadecimal.size(); i += 2) {
    build_id += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
  }
  const auto intern = [](auto* texts, const std::string& text) {
    auto* interned_text = texts->Add();
    interned_text->set_iid(1);
    interned_text->set_str(text);
  };
  intern(interned->mutable_build_ids(), build_id);
  intern(interned->mutable_mapping_paths(), "named_program");
  traceproto::Mapping* mapping = interned->add_mappings();
  mapping->set_iid(1);
  mapping->set_build_id(1);
  mapping->add_path_string_ids(1);
  traceproto::Callstack* stack = interned->add_callstacks();
  stack->set_iid(1);
  for (int i = 0; i < report.top_frames_size(); ++i) {
    traceproto::Frame* frame = interned->add_frames();
    frame->set_iid(static_cast<uint64_t>(i + 1));
    frame->set_mapping_id(1);
    frame->set_rel_pc(report.top_frames(i).rel_pc());
    stack->add_frame_ids(frame->iid());
  }
  traceproto::TracePacket* sample = trace.add_packet();
  sample->set_trusted_packet_sequence_id(1);
  sample->mutable_perf_sample()->set_callstack_iid(1);
  return trace.SerializeAsString();
}

// Names of functions in the packets for importers, innermost first, by address.
std::map<uint64_t, std::vector<std::string>> NamesIn(const std::string& file) {
  std::map<uint64_t, std::vector<std::string>> names;
  const ReportFileParts parts = SplitReportFile(file).value();
  size_t bytes = 0;
  for (const std::string_view frame : parts.trace) bytes += frame.size();
  ByteSource source(std::string_view(file).substr(0, bytes));
  const Status status = ForEachPacket(&source, [&](traceproto::TracePacket* packet) {
    for (const auto& symbols : packet->module_symbols().address_symbols()) {
      for (const auto& line : symbols.lines()) {
        names[symbols.address()].push_back(line.function_name());
      }
    }
    return Status::Ok();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return names;
}

TEST_F(SymbolsTest, TraceHasTheNamesForItsStacks) {
  const proto::Report report = first_.Report("decode_image");
  const std::string body = Seal(report, TraceOf(report));
  ASSERT_EQ(UploadResult(body), proto::UploadReply::STORED);
  const std::string path = "/api/v1/reports/" + report.id() + "/trace";
  EXPECT_TRUE(NewClient().Get(path)->body == body);
  // In the trace only: the message has no frame of it.
  proto::Report other = second_.Report("decode_image");
  other.mutable_identity()->clear_own_frames();
  const std::string trace = TraceOf(other);
  other.clear_top_frames();
  ASSERT_EQ(UploadResult(Seal(other, trace)), proto::UploadReply::STORED);
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  ASSERT_EQ(SymbolsResult(second_.Bytes()), "stored");
  WaitUntilNamed();
  const auto names = NamesIn(NewClient().Get(path)->body);
  EXPECT_EQ(names.at(report.top_frames(0).rel_pc()),
            (std::vector<std::string>{"fill_rows", "decode_image"}));
  EXPECT_EQ(names.at(report.top_frames(1).rel_pc()), std::vector<std::string>{"handle_click"});
  EXPECT_EQ(NamesIn(NewClient().Get("/api/v1/reports/" + other.id() + "/trace")->body).size(), 2u);
  EXPECT_EQ(UploadResult(body), proto::UploadReply::DUPLICATE) << "what was sent is known still";
}

TEST_F(SymbolsTest, NamesOutliveARestart) {
  const std::string id = Store(first_.Report("decode_image"));
  ASSERT_EQ(SymbolsResult(first_.Bytes()), "stored");
  WaitUntilNamed();
  const json before = Find(id);
  collector_->End(SIGKILL);
  Start();
  EXPECT_EQ(Find(id), before);
  const std::string later = Store(second_.Report("decode_image"));
  ASSERT_EQ(SymbolsResult(second_.Bytes()), "stored");
  const std::string last = Store(first_.Report("decode_image"));
  WaitUntilNamed();
  EXPECT_EQ(GroupOf(later), GroupOf(id));
  EXPECT_EQ(GroupOf(last), GroupOf(id)) << "by the file from before";
}

}  // namespace
}  // namespace jankbox::collector
