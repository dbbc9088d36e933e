// `new` and `delete` of a library that runs inside an app (base/memory/memory_reserve.h), and of
// nobody else: the library's version script keeps them to it. Not where the C++ library is a shared
// one, whose functions allocate what is freed here.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/memory/memory_reserve.h"

void* operator new(size_t bytes) { return jankbox::memory_reserve::Take(bytes); }
void* operator new[](size_t bytes) { return jankbox::memory_reserve::Take(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return jankbox::memory_reserve::Take(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return jankbox::memory_reserve::Take(bytes, static_cast<size_t>(alignment));
}
// May fail: who asks in this way has another one.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }

void operator delete(void* block) noexcept { jankbox::memory_reserve::Give(block); }
void operator delete[](void* block) noexcept { jankbox::memory_reserve::Give(block); }
void operator delete(void* block, size_t) noexcept { jankbox::memory_reserve::Give(block); }
void operator delete[](void* block, size_t) noexcept { jankbox::memory_reserve::Give(block); }
void operator delete(void* block, std::align_val_t) noexcept {
  jankbox::memory_reserve::Give(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  jankbox::memory_reserve::Give(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  jankbox::memory_reserve::Give(block);
}
void operator delete[](void* block, size_t, std::align_val_t) noexcept {
  jankbox::memory_reserve::Give(block);
}
