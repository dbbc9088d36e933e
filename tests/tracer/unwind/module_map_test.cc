#include "tracer/unwind/module_map.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "tracer/unwind/build_id_note.h"

namespace jankbox {
namespace {

uint64_t AddressOf(const void* object) { return reinterpret_cast<uintptr_t>(object); }

TEST(ModuleMap, OwnCodeIsInTheMainExecutable) {
  const ModuleMap map = ModuleMap::Load();
  const Module* module = map.Find(AddressOf(reinterpret_cast<const void*>(&AddressOf)));
  ASSERT_NE(module, nullptr);
  char path[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
  EXPECT_EQ(module->path, path);
  EXPECT_NE(module->eh_frame_hdr, 0u);
  EXPECT_GE(module->eh_frame_hdr, module->start);
  EXPECT_LE(module->eh_frame_hdr + module->eh_frame_hdr_size, module->end);
}

TEST(ModuleMap, LibcIsKnownWithItsBuildId) {
  const ModuleMap map = ModuleMap::Load();
  Dl_info symbol;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "qsort"), &symbol), 0);
  const Module* module = map.Find(AddressOf(dlsym(RTLD_DEFAULT, "qsort")));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->load_bias, AddressOf(symbol.dli_fbase));
  EXPECT_EQ(module->build_id.size(), 40u);  // SHA-1
}

TEST(ModuleMap, VdsoIsNamed) {
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0) GTEST_SKIP() << "the kernel maps no vdso here";
  const ModuleMap map = ModuleMap::Load();
  const Module* module = map.Find(vdso);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->path, "[vdso]");
}

TEST(ModuleMap, AddressesOutsideOfModulesAreNotFound) {
  const ModuleMap map = ModuleMap::Load();
  const int local = 0;
  EXPECT_EQ(map.Find(AddressOf(&local)), nullptr);
  EXPECT_EQ(map.Find(0), nullptr);
  EXPECT_EQ(map.Find(UINT64_MAX), nullptr);
}

TEST(ModuleMap, LoadingAndUnloadingMakeItStale) {
  ModuleMap map = ModuleMap::Load();
  const ModuleMap before = map;
  EXPECT_FALSE(map.Stale());
  void* library = dlopen(JANKBOX_STORM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_TRUE(map.Stale());
  map = ModuleMap::Load();
  EXPECT_FALSE(map.Stale());
  EXPECT_TRUE(map.Contains(before));
  const Module* module = map.Find(AddressOf(dlsym(library, "StormOuter")));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->path, JANKBOX_STORM_LIBRARY);
  dlclose(library);
  EXPECT_TRUE(map.Stale());
  EXPECT_FALSE(ModuleMap::Load().Contains(map));
  EXPECT_FALSE(ModuleMap::Load().Contains(before)) << "another one may have been there meanwhile";
}

TEST(ModuleMap, TextRoundTripKeepsEveryModule) {
  const ModuleMap map = ModuleMap::Load();
  const ModuleMap parsed = ModuleMap::Parse(map.Serialize());
  ASSERT_EQ(parsed.modules().size(), map.modules().size());
  for (size_t i = 0; i < map.modules().size(); ++i) {
    const Module& a = map.modules()[i];
    const Module& b = parsed.modules()[i];
    EXPECT_EQ(a.start, b.start);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.load_bias, b.load_bias);
    EXPECT_EQ(a.build_id, b.build_id);
    EXPECT_EQ(a.path, b.path);
  }
  EXPECT_EQ(parsed.Serialize(), map.Serialize());
}

TEST(ModuleMap, ParseSortsAndKeepsSpacesInPaths) {
  const ModuleMap map = ModuleMap::Parse(
      "7000 8000 7000 - /opt/an app/lib b.so\n"
      "1000 2000 0 0123abcd /usr/bin/app\n");
  ASSERT_EQ(map.modules().size(), 2u);
  EXPECT_EQ(map.modules()[0].build_id, "0123abcd");
  EXPECT_EQ(map.modules()[1].path, "/opt/an app/lib b.so");
  EXPECT_EQ(map.Find(0x1fff), &map.modules()[0]);
  EXPECT_EQ(map.Find(0x2000), nullptr);
}

TEST(ModuleMap, ParseDropsLinesThatMakeNoSense) {
  const std::string good = "1000 2000 0 - /a\n";
  for (const char* bad :
       {"\n", " \n", "2000 1000 0 - /b\n", "2000 2000 0 - /b\n", "xyz 3000 0 - /b\n",
        "3000 4000 0 -\n", "3000 4000 0\n", "3000\n", "3000 4000 0 ABCD /b\n",
        "3000 4000 0 abc /b\n", "11112222333344445 4 0 - /b\n", "0x3000 4000 0 - /b\n",
        "-3000 4000 0 - /b\n"}) {
    const ModuleMap map = ModuleMap::Parse(bad + good);
    ASSERT_EQ(map.modules().size(), 1u) << bad;
    EXPECT_EQ(map.modules()[0].path, "/a") << bad;
  }
  EXPECT_TRUE(ModuleMap::Parse("").modules().empty());
  EXPECT_TRUE(ModuleMap::Parse(std::string(100'000, ' ')).modules().empty());
}

TEST(ModuleMap, EveryTruncationOfItsTextParses) {
  const std::string text = "1000 2000 0 0123abcd /usr/bin/app\n3000 4000 3000 - /lib/b.so\n";
  for (size_t size = 0; size <= text.size(); ++size) {
    EXPECT_LE(ModuleMap::Parse(text.substr(0, size)).modules().size(), 2u);
  }
}

std::vector<std::byte> Note(uint32_t type, std::string_view name, std::string_view description) {
  const ElfW(Nhdr)
      header{static_cast<uint32_t>(name.size()), static_cast<uint32_t>(description.size()), type};
  std::vector<std::byte> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (std::string_view part : {name, description}) {
    for (char c : part) bytes.push_back(static_cast<std::byte>(c));
    while (bytes.size() % 4 != 0) bytes.push_back(std::byte{0});
  }
  return bytes;
}

TEST(BuildIdNote, IsFoundAfterOtherNotes) {
  using std::string_view_literals::operator""sv;
  std::vector<std::byte> notes = Note(1, "GNU\0"sv, "abcdefgh");
  const std::vector<std::byte> other = Note(NT_GNU_BUILD_ID, "Xen\0"sv, "nope");
  const std::vector<std::byte> id = Note(NT_GNU_BUILD_ID, "GNU\0"sv, "\x01\xab\xff"sv);
  notes.insert(notes.end(), other.begin(), other.end());
  notes.insert(notes.end(), id.begin(), id.end());
  EXPECT_EQ(BuildIdOfNotes(notes), "01abff");
  for (size_t size = 0; size < notes.size() - 1; ++size) {
    EXPECT_EQ(BuildIdOfNotes(std::span(notes).first(size)), "") << size;
  }
}

TEST(BuildIdNote, LengthsBeyondTheNoteAreRefused) {
  using std::string_view_literals::operator""sv;
  for (uint32_t length : {100u, 0x7fffffffu, 0xfffffffdu, 0xffffffffu}) {
    for (size_t field : {0, 4}) {
      std::vector<std::byte> note = Note(NT_GNU_BUILD_ID, "GNU\0"sv, "abcd");
      std::memcpy(note.data() + field, &length, sizeof(length));
      EXPECT_EQ(BuildIdOfNotes(note), "");
    }
  }
}

}  // namespace
}  // namespace jankbox
