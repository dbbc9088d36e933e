// JANKBOX_THREAD_VALUE(type, name, initial): a variable of namespace or class scope that each
// thread has for itself, of pointer size at most, without a destructor. NO-ALLOC, SIGNAL-SAFE,
// errno untouched. FORK: the child's thread has the values of the thread that forked.
//
// Initial-exec thread_local on Linux: one load relative to the thread pointer. bionic refuses that
// model in libraries that are loaded with dlopen, as every app's is, and below API 29 emulates
// thread_local with an allocation in whatever call comes first, a signal handler's maybe: there it
// is a pthread key, whose values are in the thread's own block. See
// docs/decisions/0015-thread-values-on-bionic.md.
#ifndef JANKBOX_BASE_THREAD_VALUE_H_
#define JANKBOX_BASE_THREAD_VALUE_H_

#include <pthread.h>

#include <cstdint>
#include <cstring>

namespace jankbox {

// The value of a pthread key. Without a key (all PTHREAD_KEYS_MAX are taken) it stays null.
class ThreadKey {
 public:
  static bool AllTaken() { return all_taken_; }

 protected:
  ThreadKey() {
    if (pthread_key_create(&key_, nullptr) == 0) {
      usable_ = true;
    } else {
      all_taken_ = true;
    }
  }

  void* Get() const { return usable_ ? pthread_getspecific(key_) : nullptr; }
  void Set(void* value) {
    if (usable_) pthread_setspecific(key_, value);
  }

 private:
  static inline bool all_taken_ = false;
  pthread_key_t key_{};
  bool usable_ = false;
};

// Reads and writes like a variable of type T. A thread that has not set it, or has set it to zero,
// finds `initial`.
template <typename T>
class ThreadKeyValue : ThreadKey {
 public:
  static_assert(sizeof(T) <= sizeof(void*));
  explicit ThreadKeyValue(T initial) : initial_(initial) {}
  ThreadKeyValue(const ThreadKeyValue&) = delete;
  ThreadKeyValue& operator=(const ThreadKeyValue&) = delete;

  operator T() const {  // NOLINT: reads like a variable
    void* word = Get();
    if (word == nullptr) return initial_;
    T value;
    memcpy(&value, &word, sizeof(value));
    return value;
  }
  T operator->() const { return *this; }
  T operator=(T value) {
    void* word = nullptr;
    memcpy(&word, &value, sizeof(value));
    Set(word);
    return value;
  }

 private:
  const T initial_;
};

// An address that represents the calling thread while it lives: the variable's own, or another that
// no other thread has.
template <typename T>
const void* PlaceInThread(T& value) {
  return &value;
}
template <typename T>
const void* PlaceInThread(ThreadKeyValue<T>&) {
  return reinterpret_cast<const void*>(pthread_self());
}

#if defined(__ANDROID__)
// False if keys were missing when the library was loaded: nothing can be recorded then.
inline bool ThreadValuesWork() { return !ThreadKey::AllTaken(); }
#else
constexpr bool ThreadValuesWork() { return true; }
#endif

}  // namespace jankbox

#if defined(__ANDROID__)
#define JANKBOX_THREAD_VALUE(type, name, initial) \
  ::jankbox::ThreadKeyValue<type> name { initial }
#else
#define JANKBOX_THREAD_VALUE(type, name, initial) \
  __attribute__((tls_model("initial-exec"))) thread_local constinit type name = initial
#endif

#endif  // JANKBOX_BASE_THREAD_VALUE_H_
