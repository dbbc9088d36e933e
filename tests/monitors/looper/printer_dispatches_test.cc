// The Printer contract against a Looper that does what android.os.Looper does with its printer.
#include "monitors/looper/printer_dispatches.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace jankbox {
namespace {

std::vector<std::string> g_calls;  // what a recorder hears
const DispatchCalls kCalls = {
    [](const char* what, uint64_t) { g_calls.push_back(std::string("begin ") + what); },
    [] { g_calls.push_back("end"); }, [](const char*) {}};

struct JavaPrinter {
  std::string class_name;
  std::string loader;
  std::function<void(const std::string&)> println;
};
using JavaPrinterRef = std::shared_ptr<JavaPrinter>;

constexpr const char* kOurClassName = "io.jankbox.LooperPrinter";

// The field and its reflection, as the JNI side has them.
class JavaLooper final : public PrinterHost {
 public:
  Holder Look() override {
    ++looks;
    if (!readable) return Holder::kUnreadable;
    if (logging == nullptr) return Holder::kNobody;
    if (logging == ours) return Holder::kOurs;
    return logging->class_name == kOurClassName ? Holder::kOurClass : Holder::kSomebody;
  }
  void Install(bool chained) override {
    ++installs;
    before = chained ? logging : nullptr;
    ours = std::make_shared<JavaPrinter>(
        JavaPrinter{kOurClassName, "app", [this, previous = before](const std::string& line) {
                      if (previous != nullptr) previous->println(line);
                      dispatches->OnLine(line);
                    }});
    logging = ours;
  }
  void Uninstall() override { logging = before; }

  void Message(
      const std::string& handler, const std::function<void()>& body = [] {}) {
    if (logging != nullptr) logging->println(">>>>> Dispatching to " + handler);
    body();
    if (logging != nullptr) logging->println("<<<<< Finished to " + handler);
  }

  bool readable = true;
  int looks = 0;
  int installs = 0;
  JavaPrinterRef logging;  // Looper.mLogging
  JavaPrinterRef ours;
  JavaPrinterRef before;
  PrinterDispatches* dispatches = nullptr;
};

constexpr const char* kHandler = "Handler (android.app.ActivityThread$H) {1c5a1e8} null: 159";

class PrinterDispatchesTest : public testing::Test {
 protected:
  PrinterDispatchesTest() : dispatches_(&looper_, &kCalls) {
    looper_.dispatches = &dispatches_;
    g_calls.clear();
  }
  // A printer of the app's, or of another tool.
  JavaPrinterRef Printer(const std::string& class_name, const std::string& loader = "app") {
    return std::make_shared<JavaPrinter>(JavaPrinter{
        class_name, loader, [this](const std::string& line) { printed_.push_back(line); }});
  }

  JavaLooper looper_;
  PrinterDispatches dispatches_;
  std::vector<std::string> printed_;
};

TEST_F(PrinterDispatchesTest, EachMessageIsADispatchNamedAfterItsHandler) {
  dispatches_.Attach(1000);
  looper_.Message(kHandler);
  looper_.Message("Handler (android.os.Handler) {b72fe7d} android.view.View$PerformClick@2cd6a: 0");
  EXPECT_EQ(g_calls, (std::vector<std::string>{"begin ActivityThread$H: 159", "end",
                                               "begin Handler View$PerformClick: 0", "end"}));
}

TEST_F(PrinterDispatchesTest, PrinterThatWasThereStillPrints) {
  looper_.logging = Printer("com.example.Logger");
  dispatches_.Attach(1000);
  looper_.Message(kHandler);
  ASSERT_EQ(printed_.size(), 2u);
  EXPECT_EQ(printed_[0], std::string(">>>>> Dispatching to ") + kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
}

TEST_F(PrinterDispatchesTest, NeverWrapsItself) {
  dispatches_.Attach(1000);
  dispatches_.Attach(2000);
  for (uint64_t now = 0; now < 1'000'000; now += 10'000) dispatches_.OnIdle(now);
  EXPECT_EQ(looper_.installs, 1);
  looper_.Message(kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
}

TEST_F(PrinterDispatchesTest, IdleLooksOnceAMinuteAndWrapsWhatTookThePlace) {
  dispatches_.Attach(1000);
  EXPECT_EQ(looper_.looks, 1);
  looper_.logging = Printer("com.example.Late");
  dispatches_.OnIdle(60'999);
  EXPECT_EQ(looper_.looks, 1);
  looper_.Message(kHandler);
  EXPECT_TRUE(g_calls.empty());
  dispatches_.OnIdle(61'000);
  EXPECT_EQ(looper_.looks, 2);
  looper_.Message(kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
  EXPECT_EQ(printed_.size(), 4u) << "the late one goes on printing";
  dispatches_.OnIdle(61'001);
  EXPECT_EQ(looper_.looks, 2);
}

TEST_F(PrinterDispatchesTest, PrinterThatWasTakenAwayComesBack) {
  dispatches_.Attach(0);
  looper_.logging = nullptr;
  dispatches_.OnIdle(60'000);
  looper_.Message(kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
}

TEST_F(PrinterDispatchesTest, WrapperOfAnotherClassLoaderIsLeftAlone) {
  dispatches_.Attach(0);
  looper_.logging = Printer(kOurClassName, "plugin");
  for (uint64_t now = 60'000; now < 600'000; now += 60'000) dispatches_.OnIdle(now);
  EXPECT_EQ(looper_.installs, 1);
  EXPECT_EQ(looper_.logging->loader, "plugin");
}

TEST_F(PrinterDispatchesTest, WrapperOfAnotherClassLoaderThatWasFirstIsLeftAlone) {
  looper_.logging = Printer(kOurClassName, "plugin");
  dispatches_.Attach(0);
  EXPECT_EQ(looper_.installs, 0);
}

TEST_F(PrinterDispatchesTest, FieldThatCannotBeReadIsAskedForOnce) {
  looper_.readable = false;
  dispatches_.Attach(0);
  EXPECT_TRUE(dispatches_.unreadable());
  EXPECT_EQ(looper_.installs, 1);
  looper_.readable = true;
  for (uint64_t now = 60'000; now < 600'000; now += 60'000) dispatches_.OnIdle(now);
  EXPECT_EQ(looper_.looks, 1);
  EXPECT_EQ(looper_.installs, 1);
  looper_.Message(kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
}

TEST_F(PrinterDispatchesTest, FirstLineSaysWhetherTheContractApplies) {
  dispatches_.Attach(0);
  looper_.logging->println("Dispatching, says a vendor's Looper");
  EXPECT_TRUE(dispatches_.not_understood());
  looper_.Message(kHandler);
  EXPECT_TRUE(g_calls.empty());
}

TEST_F(PrinterDispatchesTest, MissingOrUnmatchedEndLeavesNothingOpen) {
  dispatches_.Attach(0);
  looper_.logging->println("<<<<< Finished to what began before us");
  EXPECT_TRUE(g_calls.empty());
  looper_.logging->println(std::string(">>>>> Dispatching to ") + kHandler);
  looper_.logging->println(std::string(">>>>> Dispatching to ") + kHandler);
  EXPECT_EQ(g_calls.size(), 3u);
  EXPECT_EQ(g_calls[1], "end");
  dispatches_.Detach();
  EXPECT_EQ(g_calls.back(), "end");
  EXPECT_EQ(g_calls.size(), 4u);
}

TEST_F(PrinterDispatchesTest, DetachGivesTheLooperBack) {
  const JavaPrinterRef app = Printer("com.example.Logger");
  looper_.logging = app;
  dispatches_.Attach(0);
  dispatches_.Detach();
  EXPECT_EQ(looper_.logging, app);
  dispatches_.OnIdle(1'000'000);
  EXPECT_EQ(looper_.logging, app);
}

TEST_F(PrinterDispatchesTest, DetachLeavesAWrapperAroundOursAndOursIsSilent) {
  dispatches_.Attach(0);
  const JavaPrinterRef wrapped = looper_.logging;
  const JavaPrinterRef around = std::make_shared<JavaPrinter>(JavaPrinter{
      "com.example.Around", "app", [wrapped](const std::string& line) { wrapped->println(line); }});
  looper_.logging = around;
  looper_.Message(kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
  dispatches_.Detach();
  EXPECT_EQ(looper_.logging, around);
  looper_.Message(kHandler);
  EXPECT_EQ(g_calls.size(), 2u);
}

TEST(NameOfMessage, LinesOfAnyFormAreCutToTheName) {
  const auto name = [](std::string_view line, size_t size = 57) {
    std::string text(size, 'x');
    NameOfMessage(line, text.data(), size);
    return std::string(text.c_str());
  };
  EXPECT_EQ(name(">>>>> Dispatching to Handler (com.app.A$B$C) {1} com.app.Job$$Lambda/0x7@1f: 12"),
            "A$B$C Job$$Lambda/0x7: 12");
  EXPECT_EQ(name(">>>>> Dispatching to Handler (NoPackage) {1} null: -1"), "NoPackage: -1");
  EXPECT_EQ(name("> short"), "> short");
  EXPECT_EQ(name("> (a.B) {1 null: 7"), "> (a.B) {1 null: 7");
  EXPECT_EQ(name("> ( ) { } : "), "  : ");
  EXPECT_EQ(name(""), "");
  EXPECT_EQ(name(">>>>> Dispatching to Handler (a.LongHandlerName) {1} null: 7", 5), "Long");
  EXPECT_EQ(name("anything", 1), "");
}

}  // namespace
}  // namespace jankbox
