#include "base/uuid.h"

#include <gtest/gtest.h>

#include <set>

namespace jankbox {
namespace {

TEST(Uuid, CarriesTimeVersionAndVariant) {
  std::string id = NewUuid(0x0123456789abULL);
  EXPECT_TRUE(IsUuid(id)) << id;
  EXPECT_EQ(id.substr(0, 13), "01234567-89ab");
  EXPECT_EQ(id[14], '7');
  EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
}

TEST(Uuid, TwoOfTheSameMillisecondDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(NewUuid(1));
  EXPECT_EQ(ids.size(), 1000u);
}

TEST(Uuid, IsUuidRefusesWhatIsNoFileName) {
  const std::string id = NewUuid(5);
  EXPECT_FALSE(IsUuid(""));
  EXPECT_FALSE(IsUuid(id + "/"));
  EXPECT_FALSE(IsUuid("../" + id.substr(3)));
  std::string upper = id;
  upper[0] = 'A';
  EXPECT_FALSE(IsUuid(upper));
  std::string no_dash = id;
  no_dash[8] = '0';
  EXPECT_FALSE(IsUuid(no_dash));
}

}  // namespace
}  // namespace jankbox
