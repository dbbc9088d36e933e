/* Dispatches of android::Looper (libutils) with names: a wrapper around a handler records each of
 * its messages as a dispatch of the thread that runs the Looper. C++, for programs that link
 * libutils; Jankbox itself does not. Needs the include path of <utils/Looper.h>: on Debian,
 * -I/usr/include/android.
 *
 *   looper->sendMessage(new jankbox::WatchedMessageHandler(handler, "Renderer"), message);
 */
#ifndef JANKBOX_ANDROID_LOOPER_H_
#define JANKBOX_ANDROID_LOOPER_H_

#include <utils/Looper.h>

#include <cstdio>
#include <string>
#include <utility>

#include "jankbox/jankbox.h"
#include "jankbox/trace.h"

namespace jankbox {

/* Passes messages to `handler`, each as a dispatch that is named "<name>: what=<number>", cut at 56
 * bytes. handleMessage() does not allocate. */
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

/* The same for a callback of Looper::addFd(): each call is a dispatch that is named `name`. */
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
