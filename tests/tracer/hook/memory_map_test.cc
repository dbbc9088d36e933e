#include "tracer/hook/memory_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace jankbox {
namespace {

TEST(MemoryMap, ProtectionsAndBorders) {
  MemoryMap map = MemoryMap::Parse(
      "1000-3000 r--p 00000000 08:01 1   /lib/a.so\n"
      "3000-4000 r-xp 00002000 08:01 1   /lib/a.so\n"
      "nonsense\n"
      "7000-6000 rw-p 00000000 00:00 0\n"
      "8000-9000 rw-s 00000000 00:00 0\n"
      "a000-b000 ---p 00000000 00:00 0");
  EXPECT_EQ(map.ProtectionAt(0xfff), std::nullopt);
  EXPECT_EQ(map.ProtectionAt(0x1000), PROT_READ);
  EXPECT_EQ(map.ProtectionAt(0x2fff), PROT_READ);
  EXPECT_EQ(map.ProtectionAt(0x3000), PROT_READ | PROT_EXEC);
  EXPECT_EQ(map.ProtectionAt(0x4000), std::nullopt);
  EXPECT_EQ(map.ProtectionAt(0x6800), std::nullopt);
  EXPECT_EQ(map.ProtectionAt(0x8fff), PROT_READ | PROT_WRITE);
  EXPECT_EQ(map.ProtectionAt(0xa000), PROT_NONE);
}

TEST(MemoryMap, TornTextIsReadAsFarAsItGoes) {
  const std::string text = "1000-3000 r--p 0 08:01 1 /a\n4000-5000 rw-p 0 08:01 1 /a\n";
  for (size_t size = 0; size <= text.size(); ++size) {
    MemoryMap map = MemoryMap::Parse(std::string_view(text).substr(0, size));
    EXPECT_TRUE(!map.ProtectionAt(0x1000) || *map.ProtectionAt(0x1000) == PROT_READ) << size;
  }
}

TEST(MemoryMap, LoadSeesOwnPagesAsTheyAre) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* pages = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(pages, page, PROT_READ), 0);
  const uint64_t address = reinterpret_cast<uintptr_t>(pages);
  MemoryMap maps[] = {MemoryMap::Load(), MemoryMap::LoadText()};
  for (MemoryMap& map : maps) {
    EXPECT_EQ(map.ProtectionAt(address + page), PROT_READ | PROT_WRITE);
    EXPECT_EQ(map.ProtectionAt(address), PROT_READ);
    EXPECT_EQ(map.ProtectionAt(address + page), PROT_READ | PROT_WRITE);
    EXPECT_EQ(map.ProtectionAt(16), std::nullopt);
  }
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace jankbox
