// Names of Java calls as in a stack trace, "java.util.List.add(List.java:12)". The VM is asked once
// a method. Threads: one, which the VM knows; allocates.
#ifndef JANKBOX_SDK_LINUX_JVMTI_CALL_NAMES_H_
#define JANKBOX_SDK_LINUX_JVMTI_CALL_NAMES_H_

#include <jvmti.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "sdk/linux/jvmti/sampled_calls.h"

namespace jankbox {

class CallNames {
 public:
  explicit CallNames(jvmtiEnv* vm) : vm_(vm) {}

  // With the line, if the class has lines.
  std::string LineOf(JNIEnv* env, const JavaCall& call);
  // Class and method only.
  std::string NameOf(JNIEnv* env, const JavaCall& call);

 private:
  struct Method {
    std::string name;  // "java.util.List.add"
    std::string file;  // "" if the class does not say
    std::vector<jvmtiLineNumberEntry> lines;
  };

  const Method& Find(JNIEnv* env, jmethodID method);
  Method Ask(JNIEnv* env, jmethodID method) const;
  // Takes the text that the VM allocated.
  std::string Take(char* text) const;

  jvmtiEnv* const vm_;
  std::unordered_map<void*, Method> methods_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_CALL_NAMES_H_
