// Android's Looper as a source of dispatches, through its Printer: a line that begins with '>'
// before each message, one with '<' after it. The contract is that of Matrix' LooperMonitor, with
// three of its defects fixed: a printer that cannot be read is replaced once and not again every
// minute, a start without its end (the wrapper came or went in between) leaves nothing open, and
// what was there before comes back at the end. Of the Looper's thread. OnLine() is HOT: NO-ALLOC,
// no lock, no system call.
#ifndef JANKBOX_MONITORS_LOOPER_PRINTER_DISPATCHES_H_
#define JANKBOX_MONITORS_LOOPER_PRINTER_DISPATCHES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "monitors/looper/loop_dispatches.h"
#include "monitors/looper/printer_host.h"

namespace jankbox {

// The name of a message, from its '>' line: ">>>>> Dispatching to Handler
// (android.app.ActivityThread$H) {1c5a1e8} null: 159" is "ActivityThread$H: 159", and with a
// callback "Handler View$PerformClick: 0". The line's beginning if it is none of that form.
// Written to `name`, cut at `size` - 1 bytes and zero-terminated. REQUIRES size != 0.
void NameOfMessage(std::string_view line, char* name, size_t size);

class PrinterDispatches {
 public:
  static constexpr uint64_t kRecheckMs = 60'000;  // as Matrix

  // `host` and `calls` outlive it.
  PrinterDispatches(PrinterHost* host, const DispatchCalls* calls) : host_(host), calls_(calls) {}

  // How often OnIdle() looks.
  void SetRecheckMs(uint64_t ms) { recheck_ms_ = ms; }

  // Puts our printer in front of whoever prints.
  void Attach(uint64_t now_ms);

  // The Looper is idle (MessageQueue.IdleHandler): looks, at most once a minute unless asked
  // otherwise, whether our printer is still there, and puts a new one in front of what took its
  // place.
  void OnIdle(uint64_t now_ms);

  // Leaves the Looper to whoever printed before us.
  void Detach();

  // A line of the Looper's, after those before us in the chain got it.
  void OnLine(std::string_view line);

  bool unreadable() const { return unreadable_; }  // latched
  bool not_understood() const { return checked_ && !valid_; }

 private:
  void Wrap();

  PrinterHost* const host_;
  const DispatchCalls* const calls_;
  uint64_t recheck_ms_ = kRecheckMs;
  uint64_t looked_at_ms_ = 0;
  bool attached_ = false;
  bool unreadable_ = false;
  bool checked_ = false;  // the first line says whether this is a Looper's contract
  bool valid_ = false;
  bool dispatching_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_PRINTER_DISPATCHES_H_
