#include "uploader/spool/spool_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/clock.h"
#include "base/file.h"
#include "tests/uploader/few_descriptors.h"
#include "tests/uploader/temporary_folder.h"

namespace jankbox {
namespace {

constexpr uint64_t kDayNs = 86'400 * kNsPerSecond;
constexpr uint64_t kYearNs = 365 * kDayNs;

// docs/formats/spool.md, byte by byte.
constexpr unsigned char kGolden[] = {
    'J',  'B',  'X',  'S',  'P',  'L',  '0',  '2',                               // magic
    0xc9, 0x6b, 0x36, 0x1b,                                                      // CRC-32C
    0x08, 0x03,                                                                  // written
    0x12, 0x84, 0x80, 0x80, 0x00, 0x08, 0x01, 0x10, 0x02,                        // sent: 2
    0x1a, 0xb2, 0x80, 0x80, 0x00,                                                // record
    0x0a, 0x24, '0',  '1',  '8',  '9',  '0',  'a',  '5',  'd',  '-',  'a', 'c',  //   id
    '9',  '6',  '-',  '7',  '7',  '4',  'b',  '-',  'b',  'c',  'c',  'e', '-',
    'b',  '3',  '0',  '2',  '0',  '9',  '9',  'a',  '8',  '0',  '5',  '7', 0x10,
    0x05, 0x18, 0x06, 0x20, 0x07, 0x28, 0x08, 0x30, 0x01, 0x38, 0x00,  //   the rest
    0x3a, 0x00};

// The same as version 0.1 wrote it.
std::string OfFirstFormat() {
  std::string bytes = "JBXSPL01\x0c\x6d\x09\x59\x8f\xb1\x87\xd3";
  bytes.append(reinterpret_cast<const char*>(kGolden) + 12, sizeof(kGolden) - 12);
  return bytes;
}

SpoolState SampleState() {
  SpoolState state;
  state.written = 9;
  state.fates[static_cast<size_t>(SpoolFate::kSent)] = 4;
  state.fates[static_cast<size_t>(SpoolFate::kWiped)] = 3;
  state.not_written = 11;
  state.resets = 1;
  state.last_look = {.realtime_ns = 1000, .boottime_ns = 2000, .boot_id = "boot"};
  state.records = {{.id = "01890a5d-ac96-774b-bcce-b302099a8057",
                    .file = {.inode = 1, .mtime_ns = 2, .size_bytes = 3},
                    .age_ns = 4,
                    .attempts = 2},
                   {.id = "01890a5d-ac96-774b-bcce-b302099a8058",
                    .file = {.inode = 5, .mtime_ns = 6, .size_bytes = 7}},
                   {.id = "01890a5d-ac96-774b-bcce-b302099a8059", .fate = SpoolFate::kSent}};
  return state;
}

void ExpectSame(const SpoolState& a, const SpoolState& b) {
  EXPECT_EQ(a.written, b.written);
  EXPECT_EQ(a.fates, b.fates);
  EXPECT_EQ(a.not_written, b.not_written);
  EXPECT_EQ(a.resets, b.resets);
  EXPECT_EQ(a.last_look.realtime_ns, b.last_look.realtime_ns);
  EXPECT_EQ(a.last_look.boottime_ns, b.last_look.boottime_ns);
  EXPECT_EQ(a.last_look.boot_id, b.last_look.boot_id);
  ASSERT_EQ(a.records.size(), b.records.size());
  for (size_t i = 0; i < a.records.size(); ++i) {
    EXPECT_EQ(a.records[i].id, b.records[i].id);
    EXPECT_EQ(a.records[i].file, b.records[i].file);
    EXPECT_EQ(a.records[i].age_ns, b.records[i].age_ns);
    EXPECT_EQ(a.records[i].attempts, b.records[i].attempts);
    EXPECT_EQ(a.records[i].fate, b.records[i].fate);
  }
}

TEST(SpoolState, RoundTripKeepsEverything) {
  Result<SpoolState> state = DecodeSpoolState(EncodeSpoolState(SampleState()));
  ASSERT_TRUE(state.ok());
  ExpectSame(state.value(), SampleState());
  EXPECT_EQ(state->kept(), 2u);
}

TEST(SpoolState, CutAtEveryByteIsCorrupt) {
  const std::string bytes = EncodeSpoolState(SampleState());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(DecodeSpoolState(bytes.substr(0, length)).status().code(), StatusCode::kCorrupt)
        << length;
  }
}

TEST(SpoolState, EveryFlippedBitIsCorrupt) {
  const std::string bytes = EncodeSpoolState(SampleState());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeSpoolState(damaged).ok()) << bit;
  }
}

TEST(SpoolState, AccountsThatDoNotBalanceAreCorrupt) {
  SpoolState state = SampleState();
  ++state.written;
  EXPECT_EQ(DecodeSpoolState(EncodeSpoolState(state)).status().code(), StatusCode::kCorrupt);
}

TEST(SpoolState, RecordWithoutAnIdIsCorrupt) {
  SpoolState state = SampleState();
  state.records[0].id = "../../etc/passwd";
  EXPECT_EQ(DecodeSpoolState(EncodeSpoolState(state)).status().code(), StatusCode::kCorrupt);
}

void ExpectGolden(std::string_view bytes) {
  Result<SpoolState> state = DecodeSpoolState(bytes);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->written, 3u);
  EXPECT_EQ(state->fates[static_cast<size_t>(SpoolFate::kSent)], 2u);
  ASSERT_EQ(state->records.size(), 1u);
  EXPECT_EQ(state->records[0].file, (FileIdentity{5, 6, 7}));
  EXPECT_EQ(state->records[0].age_ns, 8u);
  EXPECT_EQ(state->records[0].attempts, 1u);
}

TEST(SpoolState, FieldsOfALaterVersionAreIgnored) {
  ExpectGolden({reinterpret_cast<const char*>(kGolden), sizeof(kGolden)});
}

TEST(SpoolState, FileOfTheFirstFormatIsRead) {
  const std::string bytes = OfFirstFormat();
  ExpectGolden(bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeSpoolState(bytes.substr(0, length)).ok()) << length;
  }
  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_FALSE(DecodeSpoolState(damaged).ok());
}

TEST(SpoolState, StoredIsLoadedAndPrivate) {
  const TemporaryFolder folder;
  for (const bool durable : {false, true}) {
    ASSERT_TRUE(StoreSpoolState(folder.path(), SampleState(), durable).ok());
    ExpectSame(LoadSpoolState(folder.path()).value(), SampleState());
  }
  struct stat st {};
  ASSERT_EQ(stat((folder / ".state").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_EQ(ListDirectory(folder.path()).value(), std::vector<std::string>{".state"});
}

TEST(SpoolState, NoFileIsAFreshState) {
  const TemporaryFolder folder;
  EXPECT_EQ(LoadSpoolState(folder.path()).value().resets, 0u);
  EXPECT_EQ(LoadSpoolState(folder.path() + "/none").value().written, 0u);
}

TEST(SpoolState, DamagedFileIsAFreshStateAndCounted) {
  const TemporaryFolder folder;
  std::ofstream(folder / ".state") << "garbage";
  EXPECT_EQ(LoadSpoolState(folder.path()).value().resets, 1u);
  ASSERT_EQ(unlink((folder / ".state").c_str()), 0);
  ASSERT_EQ(mkfifo((folder / ".state").c_str(), 0600), 0);
  EXPECT_EQ(LoadSpoolState(folder.path()).value().resets, 1u);
}

TEST(SpoolState, WithoutADescriptorItIsNotReplaced) {
  const TemporaryFolder folder;
  ASSERT_TRUE(StoreSpoolState(folder.path(), SampleState(), true).ok());
  {
    const FewDescriptors none(0);
    EXPECT_EQ(LoadSpoolState(folder.path()).status().code(), StatusCode::kBusy);
  }
  ExpectSame(LoadSpoolState(folder.path()).value(), SampleState());
}

TEST(SpoolState, FateNamesAreFixed) {
  EXPECT_STREQ(SpoolFateName(SpoolFate::kKept), "kept");
  EXPECT_STREQ(SpoolFateName(SpoolFate::kSent), "sent");
  EXPECT_STREQ(SpoolFateName(SpoolFate::kQuotaBytes), "quota_bytes");
  EXPECT_STREQ(SpoolFateName(SpoolFate::kRefused), "refused");
  EXPECT_STREQ(SpoolFateName(SpoolFate::kPoison), "poison");
  EXPECT_STREQ(SpoolFateName(SpoolFate::kWiped), "wiped");
}

struct ElapsedCase {
  const char* name;
  SpoolInstant last;
  SpoolInstant now;
  uint64_t elapsed_ns;
};

TEST(ElapsedNs, FollowsBoottimeAndNotTheWallClock) {
  const ElapsedCase cases[] = {
      {"first look", {}, {kYearNs, kDayNs, "a"}, 0},
      {"clocks agree", {kYearNs, kDayNs, "a"}, {kYearNs + 5, kDayNs + 5, "a"}, 5},
      {"wall clock ten years on", {kYearNs, kDayNs, "a"}, {11 * kYearNs, kDayNs + 5, "a"}, 5},
      {"wall clock ten years back",
       {20 * kYearNs, kDayNs, "a"},
       {10 * kYearNs, kDayNs + 5, "a"},
       5},
      {"thirty days unused in one boot", {kYearNs, 1, "a"}, {1, 30 * kDayNs + 1, "a"}, 30 * kDayNs},
      {"another boot an hour later",
       {kYearNs, 9 * kDayNs, "a"},
       {kYearNs + 3600 * kNsPerSecond, 7, "b"},
       3600 * kNsPerSecond},
      {"another boot years later", {kYearNs, 1, "a"}, {9 * kYearNs, 7, "b"}, kDayNs},
      {"another boot, earlier clock", {kYearNs, 1, "a"}, {0, 7, "b"}, 0},
      {"boot not known, boottime fell", {kYearNs, 9 * kDayNs, ""}, {kYearNs + 8, 7, ""}, 8},
  };
  for (const ElapsedCase& c : cases) {
    EXPECT_EQ(ElapsedNs(c.last, c.now), c.elapsed_ns) << c.name;
  }
}

TEST(KernelInstant, ReadsTheClocks) {
  const SpoolInstant now = KernelInstant();
  EXPECT_GT(now.realtime_ns, 50 * kYearNs);
  EXPECT_GT(now.boottime_ns, 0u);
  EXPECT_EQ(now.boot_id.size(), 36u);
}

}  // namespace
}  // namespace jankbox
