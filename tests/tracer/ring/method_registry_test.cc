#include "tracer/ring/method_registry.h"

#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

using MethodRegistryTest = RingTest;

TEST_F(MethodRegistryTest, SameNameSameIdBeforeAndAfterTheRing) {
  MethodRegistry& registry = MethodRegistry::Get();
  const uint32_t early = registry.IdOfName("registry-test-early");
  OpenRing(1 << 20);
  registry.Attach(ring_.get());
  const uint32_t late = registry.IdOfName("registry-test-late");
  const uint32_t by_address = registry.NewIdOfAddress(0x1234567890u);
  registry.Detach();
  const uint32_t unseen = registry.IdOfName("registry-test-after");
  EXPECT_NE(early, 0u);
  EXPECT_NE(early, late);
  EXPECT_EQ(registry.IdOfName("registry-test-early"), early);
  bool found_early = false, found_late = false, found_address = false;
  for (const auto& entry : RingReader(ring_->base(), ring_->bytes()).Names()) {
    found_early |= entry.id == early && entry.name == "registry-test-early";
    found_late |= entry.id == late && entry.name == "registry-test-late";
    found_address |= entry.id == by_address && entry.address == 0x1234567890u;
    EXPECT_NE(entry.id, unseen);
  }
  EXPECT_TRUE(found_early && found_late && found_address);
}

TEST_F(MethodRegistryTest, NamesThatDoNotFitAreCounted) {
  OpenRing(1 << 20);
  MethodRegistry& registry = MethodRegistry::Get();
  registry.Attach(ring_.get());
  const std::string filler(1000, 'x');
  for (int i = 0; i < 400; ++i) registry.IdOfName(filler + std::to_string(i));
  registry.Detach();
  EXPECT_GT(ring_->header()->names_dropped.load(), 100u);
  EXPECT_LE(ring_->header()->names_bytes.load(), kNamesBytes);
}

}  // namespace
}  // namespace jankbox
