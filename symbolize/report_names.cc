#include "symbolize/report_names.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string_view>

#include "diagnosis/blame/passed_over.h"
#include "report/group_key.h"

namespace jankbox {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using symbolproto::AddressCalls;
using symbolproto::SourceCall;
using Frames = google::protobuf::RepeatedPtrField<proto::Frame>;

// `max_count`: of frames in the list; 0: any number.
using FramesFunction = std::function<void(Frames* frames, size_t max_count)>;

// Passes one list of frames.
void VisitFrames(Message* message, const FieldDescriptor* field, const FramesFunction& visit) {
  const Reflection& reflection = *message->GetReflection();
  Frames frames;
  for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
    frames.Add()->CopyFrom(reflection.GetRepeatedMessage(*message, field, i));
  }
  visit(&frames, field->options().GetExtension(proto::max_count));
  reflection.ClearField(message, field);
  for (const proto::Frame& frame : frames) reflection.AddMessage(message, field)->CopyFrom(frame);
}

// Calls `visit` with each list of frames in `message`, at any depth.
void ForEachStack(Message* message, NamedStacks stacks, const FramesFunction& visit) {
  const Descriptor& type = *message->GetDescriptor();
  const Reflection& reflection = *message->GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const bool of_all_threads = field->message_type() == proto::ThreadAtAnr::descriptor();
    if (of_all_threads && stacks == NamedStacks::kBlamed) continue;
    if (field->message_type() == proto::Frame::descriptor() && field->is_repeated()) {
      VisitFrames(message, field, visit);
    } else if (field->is_repeated()) {
      for (int at = 0; at < reflection.FieldSize(*message, field); ++at) {
        ForEachStack(reflection.MutableRepeatedMessage(message, field, at), stacks, visit);
      }
    } else if (reflection.HasField(*message, field)) {
      ForEachStack(reflection.MutableMessage(message, field), stacks, visit);
    }
  }
}

// Null if nothing is known of the frame's address.
const AddressCalls* CallsOf(const Symbols& symbols, const proto::Frame& frame) {
  const auto module = symbols.modules.find(frame.build_id());
  if (module == symbols.modules.end()) return nullptr;
  const auto calls = module->second.calls.find(frame.rel_pc());
  return calls == module->second.calls.end() ? nullptr : &calls->second;
}

void SetCall(const SourceCall& call, proto::Frame* frame) {
  if (!call.function().empty()) frame->set_function(call.function());
  frame->set_file(call.file());
  frame->set_line(call.line());
}

// The calls that `frame` is made of, innermost first; itself if nothing is known of it.
Frames CallsIn(const Symbols& symbols, const proto::Frame& frame) {
  Frames made;
  const AddressCalls* calls = CallsOf(symbols, frame);
  for (int i = 0; calls != nullptr && i + 1 < calls->calls_size(); ++i) {
    proto::Frame* inlined = made.Add();
    inlined->set_module(frame.module());
    inlined->set_rel_pc(frame.rel_pc());
    inlined->set_build_id(frame.build_id());
    inlined->set_inlined(true);
    SetCall(calls->calls(i), inlined);
  }
  proto::Frame* own = made.Add();
  *own = frame;
  if (calls != nullptr) SetCall(calls->calls(calls->calls_size() - 1), own);
  return made;
}

void Expand(const Symbols& symbols, size_t max_count, Frames* frames) {
  Frames made;
  for (const proto::Frame& frame : *frames) {
    if (frame.inlined() && CallsOf(symbols, frame) != nullptr) continue;  // of an earlier time
    if (frame.inlined()) {
      *made.Add() = frame;
      continue;
    }
    for (const proto::Frame& call : CallsIn(symbols, frame)) *made.Add() = call;
  }
  while (max_count != 0 && static_cast<size_t>(made.size()) > max_count) made.RemoveLast();
  frames->Swap(&made);
}

bool IsOwn(const proto::Frame& frame) {
  return !IsPassedOver(frame.module(), frame.function()) &&
         !IsLanguageLibrary(LastingFunctionName(frame.function()));
}

// The frame's function as "where" has it.
std::string PlaceOf(const proto::Frame& frame) {
  if (!frame.function().empty()) return frame.function();
  char offset[32];
  const uint64_t at = frame.function_start() != 0 ? frame.function_start() : frame.rel_pc();
  snprintf(offset, sizeof(offset), "+0x%llx", static_cast<unsigned long long>(at));
  return frame.module() + offset;
}

// True for "prog+0x11a0" of that frame, and for "exported > libfoo.so+0x11a0".
bool IsAt(const std::string& where, const proto::Frame& frame) {
  const std::string place = PlaceOf(frame);
  return where == place || where.ends_with(" > " + place);
}

// "Where" by the names of the calls at its frame; empty if these are not known.
std::string WhereOf(const Symbols& symbols, const proto::Report& report) {
  const std::string& where = report.identity().blamed_function();
  for (const Frames* frames : {&report.top_frames(), &report.identity().own_frames()}) {
    for (const proto::Frame& frame : *frames) {
      if (frame.inlined() || CallsOf(symbols, frame) == nullptr || !IsAt(where, frame)) continue;
      const Frames calls = CallsIn(symbols, frame);
      const auto own = std::find_if(calls.begin(), calls.end(), IsOwn);
      return own == calls.end() ? calls.rbegin()->function() : own->function();
    }
  }
  return "";
}

// What the names show to be no code of the app leaves the app's own functions, but never all.
void DropLibraryCode(Frames* own) {
  Frames left;
  std::copy_if(own->begin(), own->end(), google::protobuf::RepeatedFieldBackInserter(&left), IsOwn);
  if (!left.empty()) own->Swap(&left);
}

}  // namespace

void CollectFrames(const proto::Report& report, ModulesByBuildId* modules) {
  proto::Report copy = report;
  ForEachStack(&copy, NamedStacks::kAll, [modules](Frames* frames, size_t) {
    for (const proto::Frame& frame : *frames) {
      if (!IsBuildId(frame.build_id())) continue;
      ModuleFrames& module = (*modules)[frame.build_id()];
      module.module = frame.module();
      module.addresses.insert(frame.rel_pc());
    }
  });
}

FrameCounts CountFrames(const proto::Report& report) {
  FrameCounts counts;
  proto::Report copy = report;
  ForEachStack(&copy, NamedStacks::kAll, [&counts](Frames* frames, size_t) {
    for (const proto::Frame& frame : *frames) {
      if (frame.inlined() || !IsBuildId(frame.build_id())) continue;
      ++counts.frames;
      if (!frame.function().empty()) ++counts.named;
    }
  });
  return counts;
}

void SetBlamedFunction(const std::string& where, proto::Report* report) {
  const std::string before = report->identity().blamed_function();
  if (where.empty() || where == before) return;
  report->mutable_identity()->set_blamed_function(where);
  std::string* const summary = report->mutable_verdict()->mutable_summary();
  const std::string in = ", in ";
  const size_t at = summary->find(in + before);
  if (at != std::string::npos) summary->replace(at + in.size(), before.size(), where);
}

void NameFrames(const Symbols& symbols, NamedStacks stacks, proto::Report* report) {
  const std::string where = WhereOf(symbols, *report);
  ForEachStack(report, stacks, [&symbols](Frames* frames, size_t max_count) {
    Expand(symbols, max_count, frames);
  });
  if (!report->has_identity()) return;
  DropLibraryCode(report->mutable_identity()->mutable_own_frames());
  SetBlamedFunction(where, report);
}

}  // namespace jankbox
