#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "base/file.h"
#include "base/files/fd_table.h"
#include "base/log.h"
#include "base/logger.h"
#include "base/mutex.h"

namespace jankbox {
namespace {

using Receiver = std::function<void(std::string_view)>;

class ReceiverSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ReceiverSink(Receiver receiver) : receiver_(std::move(receiver)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    receiver_(std::string_view(message.payload.data(), message.payload.size()));
  }
  void flush_() override {}

 private:
  Receiver receiver_;
};

// The app's standard error, whichever descriptors the thread has.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (FdTable::OfThisThread() == FdTable::kOfTheApp) return apps_.log(message);
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const AppFd standard_error(STDERR_FILENO);
    static_cast<void>(  // a line that cannot be written is lost
        WriteFully(standard_error.get(), std::string_view(line.data(), line.size())));
  }
  void flush_() override { apps_.flush(); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    apps_.set_formatter(formatter->clone());
    formatter_ = std::move(formatter);
  }

 private:
  spdlog::sinks::stderr_color_sink_mt apps_;
};

spdlog::logger* MakeLogger() {
  // Leaked on purpose: threads may log while static destructors run.
  auto* logger = new spdlog::logger("jankbox", std::make_shared<StderrSink>());
  const char* level = getenv("JANKBOX_LOG");
  logger->set_level(level != nullptr ? spdlog::level::from_str(level) : spdlog::level::warn);
  logger->set_pattern("jankbox: %^%l%$: %v");
  return logger;
}

}  // namespace

spdlog::logger& Log() {
  return MakeOnce([] { return MakeLogger(); });
}

void LogWarning(std::string_view message) {
  Log().log(spdlog::level::warn, spdlog::string_view_t(message.data(), message.size()));
}

void LogInfo(std::string_view message) {
  Log().log(spdlog::level::info, spdlog::string_view_t(message.data(), message.size()));
}

void SetLogSink(Receiver sink) {
  auto& sinks = Log().sinks();
  sinks.clear();
  if (sink) {
    sinks.push_back(std::make_shared<ReceiverSink>(std::move(sink)));
  } else {
    sinks.push_back(std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  }
}

}  // namespace jankbox
