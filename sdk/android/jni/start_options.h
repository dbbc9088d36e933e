// jankbox_options by the names of its fields, as the Java side and the manifest's meta-data give
// them. Cold; allocates.
#ifndef JANKBOX_SDK_ANDROID_JNI_START_OPTIONS_H_
#define JANKBOX_SDK_ANDROID_JNI_START_OPTIONS_H_

#include <deque>
#include <string>
#include <vector>

#include "jankbox/jankbox.h"

namespace jankbox {

class StartOptions {
 public:
  StartOptions() { options_.size = sizeof(options_); }
  StartOptions(const StartOptions&) = delete;  // its texts are pointed to
  StartOptions& operator=(const StartOptions&) = delete;

  // Sets a field; numbers are decimal, "max" is UINT32_MAX. False, and why in error(), where there
  // is no such field or `value` is no such number. The range is checked by jankbox_start().
  bool Set(const std::string& name, const std::string& value);

  // Name, value, name, value, …
  bool SetAll(const std::vector<std::string>& names_and_values);

  const jankbox_options* get() const { return &options_; }
  const std::string& error() const { return error_; }

 private:
  jankbox_options options_ = {};
  std::deque<std::string> texts_;
  std::string error_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_START_OPTIONS_H_
