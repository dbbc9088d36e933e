#include "sdk/android/jni/native_text.h"

#include <cstring>

namespace jankbox {

std::string TextOf(JNIEnv* env, jstring text) {
  if (text == nullptr) return "";
  const jsize units = env->GetStringLength(text);
  // Some VMs write a zero after the text.
  std::string bytes(static_cast<size_t>(env->GetStringUTFLength(text)) + 1, '\0');
  env->GetStringUTFRegion(text, 0, units, bytes.data());
  bytes.pop_back();
  return bytes;
}

std::vector<std::string> TextsOf(JNIEnv* env, jobjectArray texts) {
  std::vector<std::string> all;
  const jsize count = texts == nullptr ? 0 : env->GetArrayLength(texts);
  for (jsize i = 0; i < count; ++i) {
    auto* element = static_cast<jstring>(env->GetObjectArrayElement(texts, i));
    if (env->ExceptionCheck() == JNI_TRUE) break;
    all.push_back(TextOf(env, element));
    env->DeleteLocalRef(element);
  }
  return all;
}

LooperLine::LooperLine(JNIEnv* env, jstring line, jsize from, jsize units) {
  text_[0] = '\0';
  if (line == nullptr || from < 0 || from > units) return;
  if (from > 0) text_[bytes_++] = '>';
  const jsize rest = units - from;
  const bool whole = rest <= kHead + kTail;
  if (whole && ReadAscii(env, line, from, rest)) return;
  // The VM ends what it writes with a zero.
  env->GetStringUTFRegion(line, from, whole ? rest : kHead, text_ + bytes_);
  bytes_ += strlen(text_ + bytes_);
  if (whole) return;
  env->GetStringUTFRegion(line, units - kTail, kTail, text_ + bytes_);
  bytes_ += strlen(text_ + bytes_);
}

// Half the time of GetStringUTFRegion().
bool LooperLine::ReadAscii(JNIEnv* env, jstring line, jsize from, jsize units) {
  jchar wide[kHead + kTail];
  env->GetStringRegion(line, from, units, wide);
  unsigned seen = 0;
  char* text = text_ + bytes_;
  for (jsize i = 0; i < units; ++i) {
    seen |= wide[i];
    text[i] = static_cast<char>(wide[i]);
  }
  if (seen >= 0x80) return false;
  bytes_ += static_cast<size_t>(units);
  return true;
}

}  // namespace jankbox
