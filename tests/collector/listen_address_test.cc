#include "collector/listen_address.h"

#include <gtest/gtest.h>

#include "collector/host_policy.h"

namespace jankbox::collector {
namespace {

TEST(ListenAddress, NamesAndBothFamiliesParse) {
  EXPECT_EQ(ParseListenAddress("127.0.0.1:8750")->port, 8750);
  EXPECT_EQ(ParseListenAddress("localhost:0")->host, "localhost");
  EXPECT_EQ(ParseListenAddress("[::1]:80")->host, "::1");
}

TEST(ListenAddress, MalformedTextIsInvalid) {
  for (const char* text : {"", ":", "host", ":1", "host:", "host:-1", "host:65536", "host:1x",
                           "::1:80", "[]:80", "host: 1"}) {
    EXPECT_EQ(ParseListenAddress(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(ListenAddress, OnlyLoopbackIsLoopback) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback(host).value()) << host;
  }
  for (const char* host :
       {"0.0.0.0", "::", "192.168.0.1", "8.8.8.8", "fe80::1", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(IsLoopback(host).value()) << host;
  }
}

TEST(ListenAddress, UrlBracketsIpv6) {
  EXPECT_EQ(ListenUrl("::1", 80), "http://[::1]:80");
  EXPECT_EQ(ListenUrl("127.0.0.1", 80), "http://127.0.0.1:80");
}

TEST(HostPolicy, ListenHostAndNamesAreAllowedWithAnyPort) {
  const HostPolicy policy("Build.Example", {"Reports.example"}, false);
  for (const char* host : {"build.example", "BUILD.example:80", "reports.example", "localhost:1",
                           "[::1]:8750", "127.0.0.1"}) {
    EXPECT_TRUE(policy.Allows(host)) << host;
  }
  for (const char* host : {"", ":80", "example", "x.build.example", "10.0.0.1", "[::2]", "[::1",
                           "[::1]x", "localhost:8x", "localhost.", "::1"}) {
    EXPECT_FALSE(policy.Allows(host)) << host;
  }
}

TEST(HostPolicy, RemoteAllowsLiteralsButNoNames) {
  const HostPolicy policy("0.0.0.0", {}, true);
  EXPECT_TRUE(policy.Allows("10.0.0.1:8750"));
  EXPECT_TRUE(policy.Allows("[fd00::5]:8750"));
  EXPECT_FALSE(policy.Allows("evil.example"));
}

}  // namespace
}  // namespace jankbox::collector
