#include "sdk/linux/jvmti/call_names.h"

#include <algorithm>

namespace jankbox {
namespace {

// "Ljava/util/List;" -> "java.util.List". The class of a lambda has an address after a dot, another
// one in each run: it is left out.
std::string ClassName(std::string signature) {
  if (signature.size() < 2 || signature.front() != 'L') return signature;
  signature = signature.substr(1, signature.size() - 2);
  signature = signature.substr(0, signature.find(".0x"));
  std::replace(signature.begin(), signature.end(), '/', '.');
  return signature;
}

}  // namespace

std::string CallNames::Take(char* text) const {
  if (text == nullptr) return "";
  std::string taken = text;
  vm_->Deallocate(reinterpret_cast<unsigned char*>(text));
  return taken;
}

CallNames::Method CallNames::Ask(JNIEnv* env, jmethodID method) const {
  Method found;
  jclass owner = nullptr;
  char* text = nullptr;
  if (vm_->GetMethodDeclaringClass(method, &owner) != JVMTI_ERROR_NONE) return found;  // unloaded
  if (vm_->GetClassSignature(owner, &text, nullptr) == JVMTI_ERROR_NONE) {
    found.name = ClassName(Take(text)) + ".";
  }
  if (vm_->GetMethodName(method, &text, nullptr, nullptr) == JVMTI_ERROR_NONE) {
    found.name += Take(text);
  }
  if (vm_->GetSourceFileName(owner, &text) == JVMTI_ERROR_NONE) found.file = Take(text);
  env->DeleteLocalRef(owner);
  jint count = 0;
  jvmtiLineNumberEntry* lines = nullptr;
  if (vm_->GetLineNumberTable(method, &count, &lines) == JVMTI_ERROR_NONE) {
    found.lines.assign(lines, lines + count);
    vm_->Deallocate(reinterpret_cast<unsigned char*>(lines));
  }
  return found;
}

const CallNames::Method& CallNames::Find(JNIEnv* env, jmethodID method) {
  const auto known = methods_.find(method);
  if (known != methods_.end()) return known->second;
  return methods_.emplace(method, Ask(env, method)).first->second;
}

std::string CallNames::NameOf(JNIEnv* env, const JavaCall& call) {
  return Find(env, static_cast<jmethodID>(call.method)).name;
}

std::string CallNames::LineOf(JNIEnv* env, const JavaCall& call) {
  const Method& method = Find(env, static_cast<jmethodID>(call.method));
  if (call.location < 0) return method.name + "(Native Method)";
  if (method.file.empty()) return method.name + "(Unknown Source)";
  const jvmtiLineNumberEntry* best = nullptr;
  for (const jvmtiLineNumberEntry& entry : method.lines) {
    const bool fits = entry.start_location <= call.location;
    if (fits && (best == nullptr || entry.start_location >= best->start_location)) best = &entry;
  }
  const std::string line = best != nullptr ? ":" + std::to_string(best->line_number) : "";
  return method.name + "(" + method.file + line + ")";
}

}  // namespace jankbox
