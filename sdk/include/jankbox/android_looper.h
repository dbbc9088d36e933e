/* android::Looper (libutils) as a source of dispatches: each message that a watched handler gets is
 * one dispatch of its thread, named after the handler. Header-only, so that Jankbox itself does not
 * depend on libutils: include it where libutils is used anyway. Needs -I/usr/include/android (or
 * the platform's own path) for <utils/Looper.h>. */
#ifndef JANKBOX_ANDROID_LOOPER_H_
#define JANKBOX_ANDROID_LOOPER_H_

#include <utils/Looper.h>

#include <cstdio>
#include <string>
#include <utility>

#include "jankbox/jankbox.h"
#include "jankbox/trace.h"

namespace jankbox {

/* Stands in front of a MessageHandler. The name is "<name>: what=<n>", at most 56 bytes. No
 * allocation at dispatch. */
class WatchedMessageHandler : public android::MessageHandler {
 public:
  WatchedMessageHandler(android::sp<android::MessageHandler> handler, std::string name)
      : handler_(std::move(handler)), name_(std::move(name)) {}

  void handleMessage(const android::Message& message) override {
    char what[57];
    snprintf(what, sizeof(what), "%s: what=%d", name_.c_str(), message.what);
    ScopedDispatch dispatch(what);
    handler_->handleMessage(message);
  }

 private:
  const android::sp<android::MessageHandler> handler_;
  const std::string name_;
};

/* Stands in front of a LooperCallback, as given to Looper::addFd. */
class WatchedLooperCallback : public android::LooperCallback {
 public:
  WatchedLooperCallback(android::sp<android::LooperCallback> callback, std::string name)
      : callback_(std::move(callback)), name_(std::move(name)) {}

  int handleEvent(int fd, int events, void* data) override {
    ScopedDispatch dispatch(name_.c_str());
    return callback_->handleEvent(fd, events, data);
  }

 private:
  const android::sp<android::LooperCallback> callback_;
  const std::string name_;
};

}  // namespace jankbox

#endif  // JANKBOX_ANDROID_LOOPER_H_
