#include "monitors/looper/printer_dispatches.h"

#include <algorithm>
#include <cstring>

#include "tracer/event/event.h"

namespace jankbox {
namespace {

// "android.app.ActivityThread$H" without its package, "com.app.Job@1c5a1e8" also without its hash.
std::string_view SimpleName(std::string_view name) {
  name = name.substr(0, name.find('@'));
  const size_t inner = std::min(name.find('$'), name.size());
  const size_t dot = name.substr(0, inner).rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

class NameWriter {
 public:
  NameWriter(char* name, size_t size) : at_(name), end_(name + size - 1) { *at_ = '\0'; }
  NameWriter& Add(std::string_view text) {
    const size_t bytes = std::min(text.size(), static_cast<size_t>(end_ - at_));
    memcpy(at_, text.data(), bytes);
    at_ += bytes;
    *at_ = '\0';
    return *this;
  }

 private:
  char* at_;
  char* const end_;
};

}  // namespace

void NameOfMessage(std::string_view line, char* name, size_t size) {
  NameWriter writer(name, size);
  const size_t open = line.find('(');
  const size_t close = line.find(") {", open == std::string_view::npos ? 0 : open);
  const size_t brace = line.find("} ", close == std::string_view::npos ? 0 : close);
  const size_t colon = line.rfind(": ");
  const bool known = open != std::string_view::npos && close != std::string_view::npos &&
                     brace != std::string_view::npos && colon != std::string_view::npos &&
                     colon >= brace + 2;
  if (!known) {
    writer.Add(line);
    return;
  }
  const std::string_view callback = line.substr(brace + 2, colon - brace - 2);
  writer.Add(SimpleName(line.substr(open + 1, close - open - 1)));
  if (callback != "null") writer.Add(" ").Add(SimpleName(callback));
  writer.Add(line.substr(colon));
}

void PrinterDispatches::Attach(uint64_t now_ms) {
  looked_at_ms_ = now_ms;
  attached_ = true;
  Wrap();
}

void PrinterDispatches::Wrap() {
  if (unreadable_) return;
  switch (host_->Look()) {
    case PrinterHost::Holder::kOurs:
      return;
    // Wrapped again, each line would count twice; the one of another class loader is another's.
    case PrinterHost::Holder::kOurClass:
      return;
    case PrinterHost::Holder::kUnreadable:
      unreadable_ = true;
      host_->Install(false);
      return;
    case PrinterHost::Holder::kNobody:
    case PrinterHost::Holder::kSomebody:
      host_->Install(true);
      return;
  }
}

void PrinterDispatches::OnIdle(uint64_t now_ms) {
  if (!attached_ || now_ms - looked_at_ms_ < recheck_ms_) return;
  looked_at_ms_ = now_ms;
  Wrap();
}

void PrinterDispatches::Detach() {
  if (dispatching_) calls_->end();
  dispatching_ = false;
  if (attached_ && host_->Look() == PrinterHost::Holder::kOurs) host_->Uninstall();
  attached_ = false;
}

void PrinterDispatches::OnLine(std::string_view line) {
  if (!attached_ || line.empty()) return;
  if (!checked_) {
    checked_ = true;
    valid_ = line.front() == '>' || line.front() == '<';
  }
  if (!valid_) return;
  if (dispatching_) calls_->end();
  dispatching_ = line.front() == '>';
  if (!dispatching_) return;
  char name[kMaxDispatchNameBytes + 1];
  NameOfMessage(line, name, sizeof(name));
  calls_->begin(name, 0);
}

}  // namespace jankbox
