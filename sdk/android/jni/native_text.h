// Java strings as bytes of modified UTF-8. Any thread that the VM knows.
#ifndef JANKBOX_SDK_ANDROID_JNI_NATIVE_TEXT_H_
#define JANKBOX_SDK_ANDROID_JNI_NATIVE_TEXT_H_

#include <jni.h>

#include <string>
#include <string_view>
#include <vector>

namespace jankbox {

// "" for null. Allocates.
std::string TextOf(JNIEnv* env, jstring text);

// The elements of a String[]; empty for null. Stops if the VM throws, and leaves that pending.
// Allocates.
std::vector<std::string> TextsOf(JNIEnv* env, jobjectArray texts);

// A line that a Looper prints: all of it, or its beginning and its end if it is longer than
// kHead + kTail UTF-16 units (callbacks may print anything). NO-ALLOC.
class LooperLine {
 public:
  static constexpr jsize kHead = 224;
  static constexpr jsize kTail = 64;  // with the message's number

  // A '>' and what follows `from`; all of it if that is 0. `units` is its length: asking the VM
  // for it costs as much as reading the text.
  LooperLine(JNIEnv* env, jstring line, jsize from, jsize units);

  std::string_view text() const { return {text_, bytes_}; }

 private:
  static constexpr size_t kMaxUnitBytes = 3;

  // False if units of it are no ASCII.
  bool ReadAscii(JNIEnv* env, jstring line, jsize from, jsize units);

  char text_[1 + (kHead + kTail) * kMaxUnitBytes + 1];
  size_t bytes_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_NATIVE_TEXT_H_
