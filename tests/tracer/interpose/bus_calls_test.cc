// The destination of a D-Bus call, out of bytes as the specification has them: from messages that
// are built here, cut at every byte, and with every byte changed.
#include "tracer/interpose/bus_calls.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "tests/tracer/interpose/interpose_test.h"

namespace jankbox {
namespace {

// A message's header, field by field, in little or big endian.
class Message {
 public:
  explicit Message(bool big = false, uint8_t type = 1, uint8_t flags = 0) : big_(big) {
    bytes_ = {big ? 'B' : 'l', static_cast<char>(type), static_cast<char>(flags), 1};
    Number(0);   // of the body
    Number(77);  // serial
    Number(0);   // of the fields
  }
  Message& Text(uint8_t field, char type, const std::string& text) {
    Field(field, type);
    if (type == 'g') {
      bytes_ += static_cast<char>(text.size());
    } else {
      Number(static_cast<uint32_t>(text.size()));
    }
    bytes_ += text + '\0';
    return *this;
  }
  Message& Value(uint8_t field, uint32_t value) {
    Field(field, 'u');
    Number(value);
    return *this;
  }
  std::string Bytes() {
    const std::string all = bytes_;
    const auto fields = static_cast<uint32_t>(all.size() - 16);
    bytes_.resize(12);
    Number(fields);
    bytes_ += all.substr(16);
    Align(8);
    return bytes_;
  }

 private:
  void Align(size_t bytes) { bytes_.resize((bytes_.size() + bytes - 1) / bytes * bytes); }
  void Number(uint32_t value) {
    Align(4);
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(value >> (big_ ? 24 - 8 * i : 8 * i));
  }
  void Field(uint8_t field, char type) {
    Align(8);
    bytes_ += {static_cast<char>(field), 1, type, 0};
  }

  const bool big_;
  std::string bytes_;
};

Message Call(bool big = false, uint8_t type = 1, uint8_t flags = 0) {
  Message message(big, type, flags);
  message.Text(1, 'o', "/org/jankbox/Test").Text(2, 's', "org.jankbox.Test");
  message.Text(3, 's', "Sleep").Text(8, 'g', "as").Value(9, 1);
  return message;
}

TEST(DestinationOfCall, IsReadInEitherByteOrder) {
  for (const bool big : {false, true}) {
    EXPECT_EQ(DestinationOfCall(Call(big).Text(6, 's', "org.jankbox.Sleeper").Bytes()),
              "org.jankbox.Sleeper");
  }
  EXPECT_EQ(DestinationOfCall(Call().Text(6, 's', ":1.42").Text(7, 's', ":1.1").Bytes()), ":1.42");
}

TEST(DestinationOfCall, OnlyCallsThatWaitForAReplyHaveOne) {
  EXPECT_EQ(DestinationOfCall(Call().Bytes()), "") << "a call without a bus";
  for (const uint8_t type : {2, 3, 4}) {
    EXPECT_EQ(DestinationOfCall(Call(false, type).Text(6, 's', "a.b").Bytes()), "");
  }
  EXPECT_EQ(DestinationOfCall(Call(false, 1, 1).Text(6, 's', "a.b").Bytes()), "");
  EXPECT_EQ(DestinationOfCall(Call(false, 1, 2).Text(6, 's', "a.b").Bytes()), "a.b");
}

TEST(DestinationOfCall, BytesOfNoMessageHaveNone) {
  EXPECT_EQ(DestinationOfCall(""), "");
  EXPECT_EQ(DestinationOfCall("l"), "");
  EXPECT_EQ(DestinationOfCall("lists of things that are no message"), "");
  EXPECT_EQ(DestinationOfCall(std::string(64, 'l')), "");
}

// Whatever comes, nothing outside of the bytes is read: the sanitizers' builds would say so.
TEST(DestinationOfCall, CutAndChangedMessagesEnd) {
  const std::string whole = Call().Text(6, 's', "org.jankbox.Sleeper").Bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::unique_ptr<char[]> cut(new char[size]);  // no byte more
    memcpy(cut.get(), whole.data(), size);
    DestinationOfCall({cut.get(), size});
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 127, 128, 255}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      const std::string_view destination = DestinationOfCall(changed);
      const bool inside = destination.empty() || (destination.data() >= changed.data() &&
                                                  destination.data() + destination.size() <
                                                      changed.data() + changed.size());
      EXPECT_TRUE(inside) << at << " " << value;
    }
  }
}

class BusCallsTest : public SourceTest {
 protected:
  static std::string LastBusDestination(uint64_t ticks) {
    BusName name;
    ReadLastBusDestination(ticks, &name);
    return name;
  }
  void SetUp() override {
    SourceTest::SetUp();
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_), 0);
  }
  void TearDown() override {
    close(sockets_[0]);
    close(sockets_[1]);
    SourceTest::TearDown();
  }
  int sockets_[2];
};

TEST_F(BusCallsTest, LastCallIsKeptAndPassedOn) {
  auto* do_send = Proxy<ssize_t(int, const void*, size_t, int)>(HookId::kSend);
  auto* do_sendmsg = Proxy<ssize_t(int, const msghdr*, int)>(HookId::kSendmsg);
  const uint64_t before = NowTicks();
  const std::string first = Call().Text(6, 's', "org.jankbox.First").Bytes();
  ASSERT_EQ(do_send(sockets_[0], first.data(), first.size(), 0),
            static_cast<ssize_t>(first.size()));
  EXPECT_EQ(LastBusDestination(before), "org.jankbox.First");

  std::string second = Call().Text(6, 's', "org.jankbox.Second").Bytes();
  char body[] = "body";
  iovec pieces[] = {{second.data(), second.size()}, {body, 4}};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  ASSERT_EQ(do_sendmsg(sockets_[0], &message, 0), static_cast<ssize_t>(second.size() + 4));
  EXPECT_EQ(LastBusDestination(before), "org.jankbox.Second");
  EXPECT_EQ(LastBusDestination(NowTicks()), "") << "the call was before";

  char got[1024];
  const ssize_t bytes = recv(sockets_[1], got, sizeof(got), 0);
  EXPECT_EQ(std::string(got, static_cast<size_t>(bytes)), first + second + "body");
}

TEST_F(BusCallsTest, CallThatFailsIsNotKeptAndErrnoIsTheKernels) {
  auto* do_send = Proxy<ssize_t(int, const void*, size_t, int)>(HookId::kSend);
  auto* do_sendmsg = Proxy<ssize_t(int, const msghdr*, int)>(HookId::kSendmsg);
  const uint64_t before = NowTicks();
  const std::string call = Call().Text(6, 's', "org.jankbox.Lost").Bytes();
  errno = 0;
  EXPECT_EQ(do_send(-1, call.data(), call.size(), 0), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(do_send(sockets_[0], nullptr, 100, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(do_sendmsg(sockets_[0], nullptr, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(LastBusDestination(before), "");
}

}  // namespace
}  // namespace jankbox
