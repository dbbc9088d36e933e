#include "symbolize/java_names.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "report/report.h"
#include "symbolize/java_mapping.h"
#include "symbolize/limited_worker.h"
#include "symbolize/report_names.h"

namespace jankbox {
namespace {

using symbolproto::WorkerMessage;

constexpr size_t kMaxTextBytes = 1024;  // of a text in a report
constexpr int kMaxInlined = 64;         // calls in one; a hostile mapping may have any number
constexpr std::string_view kStackKey = "java_stack_";

bool IsNameCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return isalnum(byte) != 0 || c == '_' || c == '$' || c == '.' || byte >= 0x80;
}

// Calls `visit` with each part of a text: one that may be a name of Java, or what is between them.
void ForEachPart(std::string_view text, const std::function<void(std::string_view, bool)>& visit) {
  while (!text.empty()) {
    const bool is_name = IsNameCharacter(text.front());
    const auto end = std::find_if(text.begin(), text.end(),
                                  [&](char c) { return IsNameCharacter(c) != is_name; });
    const size_t size = static_cast<size_t>(end - text.begin());
    visit(text.substr(0, size), is_name);
    text.remove_prefix(size);
  }
}

using TextFunction = std::function<void(std::string* text)>;

// Calls `visit` with each text of `report` that may be a method's name.
void ForEachMethod(proto::Report* report, const TextFunction& visit) {
  for (proto::Method& method : *report->mutable_methods()) visit(method.mutable_function());
  for (proto::Extra& extra : *report->mutable_extra()) visit(extra.mutable_function());
  const auto frames = [&](auto* list) {
    for (proto::Frame& frame : *list) {
      if (frame.build_id().empty()) visit(frame.mutable_function());  // no code of a file
    }
  };
  frames(report->mutable_top_frames());
  if (!report->has_identity()) return;
  frames(report->mutable_identity()->mutable_own_frames());
  std::string where = report->identity().blamed_function();
  visit(&where);
  SetBlamedFunction(where, report);
}

bool IsStack(const proto::Attribute& attribute) { return attribute.key().starts_with(kStackKey); }
bool IsWait(const proto::Attribute& attribute) { return attribute.key() == "java_wait"; }

// In the worker.
void FindAll(const std::string& path, const std::set<std::string>& calls, WorkerOutput* output) {
  std::set<std::string> classes;
  for (const std::string& call : calls) {
    for (std::string& name : JavaMapping::ClassesOf(call)) classes.insert(std::move(name));
  }
  std::ifstream file(path);
  const Result<JavaMapping> mapping = JavaMapping::Read(&file, classes);
  if (!mapping.ok()) return output->SendProblem(mapping.status().message());
  for (const std::string& call : calls) {
    WorkerMessage message;
    message.mutable_java()->set_call(call);
    for (const std::string& original : mapping->Originals(call)) {
      if (message.java().originals_size() == kMaxInlined) break;
      message.mutable_java()->add_originals(ToValidUtf8(original, kMaxTextBytes));
    }
    if (message.java().originals_size() != 0) output->Send(message);
  }
}

size_t ReplaceText(const JavaNames& names, std::string* text) {
  const auto found = names.find(*text);
  if (found == names.end()) return 0;
  *text = found->second.back();
  return 1;
}

size_t ReplaceParts(const JavaNames& names, std::string* text) {
  size_t replaced = 0;
  std::string made;
  ForEachPart(*text, [&](std::string_view part, bool is_name) {
    std::string piece(part);
    if (is_name) replaced += ReplaceText(names, &piece);
    made += piece;
  });
  *text = std::move(made);
  return replaced;
}

// The calls of a stack are numbered again: one may be several that were inlined. Ends when no
// reader would take the report.
size_t ReplaceAttributes(const JavaNames& names, proto::Report* report) {
  google::protobuf::RepeatedPtrField<proto::Attribute> made;
  size_t replaced = 0;
  size_t calls = 0;
  size_t bytes = 0;
  const auto add_call = [&](const std::string& call) {
    char key[32];
    snprintf(key, sizeof(key), "%.*s%02zu", static_cast<int>(kStackKey.size()), kStackKey.data(),
             calls++);
    proto::Attribute* attribute = made.Add();
    attribute->set_key(key);
    attribute->set_value(call);
    bytes += call.size();
  };
  for (const proto::Attribute& attribute : report->attributes()) {
    if (bytes > kMaxReportMessageBytes) break;
    const auto found = IsStack(attribute) ? names.find(attribute.value()) : names.end();
    if (found != names.end()) {
      for (const std::string& call : found->second) add_call(call);
      ++replaced;
    } else if (IsStack(attribute)) {
      add_call(attribute.value());
    } else {
      *made.Add() = attribute;
      if (IsWait(attribute)) {
        std::string* const value = made.Mutable(made.size() - 1)->mutable_value();
        replaced += ReplaceParts(names, value);
        bytes += value->size();
      }
    }
  }
  report->mutable_attributes()->Swap(&made);
  return replaced;
}

}  // namespace

void CollectJavaCalls(const proto::Report& report, std::set<std::string>* calls) {
  const auto add = [calls](std::string_view text) {
    if (text.find('.') != std::string_view::npos) calls->emplace(text);
  };
  proto::Report copy = report;
  ForEachMethod(&copy, [&](std::string* text) { add(*text); });
  for (const proto::Attribute& attribute : report.attributes()) {
    if (IsStack(attribute)) add(attribute.value());
    if (!IsWait(attribute)) continue;
    ForEachPart(attribute.value(), [&](std::string_view part, bool is_name) {
      if (is_name) add(part);
    });
  }
}

Result<JavaNames> LookUpJavaNames(const std::string& mapping_path,
                                  const std::set<std::string>& calls) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(mapping_path, error)) {
    return Status(StatusCode::kNotFound,
                  mapping_path + ": " + (error ? error.message() : "not a regular file"));
  }
  const size_t max_bytes = MaxNameBytes(calls.size());
  JavaNames names;
  std::string problem;
  size_t bytes = 0;
  const Status status = RunLimited(
      {}, [&](WorkerOutput* output) { FindAll(mapping_path, calls, output); },
      [&](const WorkerMessage& message) {
        if (message.has_problem()) problem = message.problem();
        const symbolproto::JavaCalls& java = message.java();
        if (java.originals_size() == 0 || !calls.contains(java.call())) return;
        bytes += java.ByteSizeLong();
        if (bytes > max_bytes) {
          problem = "its names take too much space";
          return;
        }
        names[java.call()] = {java.originals().begin(), java.originals().end()};
      });
  if (!status.ok()) return Status(status.code(), mapping_path + ": " + status.message());
  if (!problem.empty()) return Status(StatusCode::kCorrupt, mapping_path + ": " + problem);
  return names;
}

size_t ReplaceJavaNames(const JavaNames& names, proto::Report* report) {
  size_t replaced = 0;
  ForEachMethod(report, [&](std::string* text) { replaced += ReplaceText(names, text); });
  return replaced + ReplaceAttributes(names, report);
}

}  // namespace jankbox
