// The names of binder transactions: interface and code to method, from the constants of the
// generated stubs (`static final int TRANSACTION_getTasks = 21` in
// `android.app.IActivityTaskManager$Stub`). Filled by whoever can read those (Java, by reflection);
// binder_names.h holds the process's. Single-threaded; allocates.
#ifndef JANKBOX_TRACER_RING_BINDER_METHODS_H_
#define JANKBOX_TRACER_RING_BINDER_METHODS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox {

class BinderMethods {
 public:
  static constexpr size_t kMaxMethods = 20'000;  // bounds the table for any stub

  // One constant of a stub class. False if it names no transaction, its code is none of an
  // interface's own (1 to 0x00ffffff), or the table is full.
  bool Add(std::string_view stub_class, std::string_view constant, int64_t code);

  // After each Add() or several, before the next Find().
  void Finish();

  // "IActivityTaskManager.getTasks" for ("android.app.IActivityTaskManager", 21);
  // "IActivityTaskManager:21" for a code that is not known.
  std::string Find(std::string_view interface, uint32_t code) const;

  size_t size() const { return methods_.size(); }

 private:
  struct Method {
    std::string interface;
    uint32_t code = 0;
    std::string name;
  };

  std::vector<Method> methods_;  // by interface, then by code
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_BINDER_METHODS_H_
