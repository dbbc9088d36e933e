// The order of the channels, for each option of the table and each pair of channels: whatever both
// say, the stronger one wins. The order itself: docs/options.md.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <string>
#include <utility>
#include <vector>

#include "base/last_error.h"
#include "sdk/api/config_file.h"
#include "sdk/api/desktop_link.h"
#include "sdk/api/desktop_requests.h"
#include "sdk/api/option_entries.h"
#include "sdk/api/threshold_layers.h"

namespace jankbox {
namespace {

// From the weakest to the strongest. The config file is read after the call of jankbox_configure
// here; a process has either properties or a command line of `jankbox run`.
enum class Channel {
  kDefault,
  kRunSuggestion,
  kJankboxOptions,
  kOwnVariable,
  kField,
  kConfigure,
  kConfigFile,
  kProperty,
  kRunCommandLine,
};
constexpr Channel kChannels[] = {
    Channel::kDefault,     Channel::kRunSuggestion, Channel::kJankboxOptions,
    Channel::kOwnVariable, Channel::kField,         Channel::kConfigure,
    Channel::kConfigFile,  Channel::kProperty,      Channel::kRunCommandLine};

bool Carries(Channel channel, const OptionRow& row) {
  const bool threshold = row.change == OptionChange::kAnyTime;
  if (channel == Channel::kOwnVariable) return row.variable != nullptr;
  if (channel == Channel::kConfigure || channel == Channel::kConfigFile) return threshold;
  if (channel == Channel::kProperty) return row.IsForDeveloper();
  return true;
}

// Two values of each option, as text, neither of which is the default.
std::string Value(const OptionRow& row, int which) {
  const std::string name = row.name;
  if (row.kind == OptionKind::kNumber) {
    // Large enough for the thresholds that must be at least another one.
    const uint64_t base = row.most < 100'000 ? row.least : row.least + 15'000;
    return std::to_string(base + static_cast<uint64_t>(which) + 1 +
                          (base + static_cast<uint64_t>(which) + 1 >= row.default_number ? 1 : 0));
  }
  if (row.kind == OptionKind::kText) {
    if (name == "atrace") return which == 0 ? "gfx,view" : "input";
    return which == 0 ? "/first, folder's" : "/second";
  }
  // Two words that are not the default; if there are only two, one is.
  std::vector<std::string> words;
  for (const OptionWord& word : row.words) {
    if (word.value != row.default_number) words.push_back(word.word);
  }
  for (const OptionWord& word : row.words) {
    if (word.value == row.default_number) words.push_back(word.word);
  }
  return words[static_cast<size_t>(which)];
}

// One start with some channels set, and what follows it.
class Start {
 public:
  Start() { unsetenv("JANKBOX_OPTIONS"); }

  void Say(Channel channel, const OptionRow& row, const std::string& value) {
    const std::string entry = std::string(row.name) + "=" + Quoted(value);
    const auto set = [&](OptionSet* options) {
      const Status status = options->Set(row.name, value);
      ASSERT_TRUE(status.ok()) << status.message();
    };
    switch (channel) {
      case Channel::kDefault:
        break;
      case Channel::kRunSuggestion:
        run_ += std::string(row.name) + "?=" + Quoted(value) + ",";
        break;
      case Channel::kRunCommandLine:
        run_ += entry + ",";
        break;
      case Channel::kJankboxOptions:
        setenv("JANKBOX_OPTIONS", entry.c_str(), 1);
        break;
      case Channel::kOwnVariable:
        own_variable_ = row.variable;
        setenv(row.variable, value.c_str(), 1);
        break;
      case Channel::kField:
        set(&fields_);
        break;
      case Channel::kConfigure:
        set(&configured_);
        break;
      case Channel::kConfigFile:
        file_ = std::string(row.name) + " = " + value;
        break;
      case Channel::kProperty:
        ASSERT_TRUE(properties_.Set("debug.jankbox." + std::string(row.name), value));
        break;
    }
  }

  // The option's value at the end of all that was said.
  std::string Outcome(const OptionRow& row) {
    OptionLayers layers;
    TakeDesktopOptions(properties_, "app", &layers);
    layers.TakeEntries("JANKBOX_RUN_OPTIONS", run_, &layers.pinned, &layers.suggested);
    layers.TakeEnvironment();
    unsetenv("JANKBOX_OPTIONS");
    if (own_variable_ != nullptr) unsetenv(own_variable_);
    EXPECT_EQ(layers.ignored, "");
    const Result<Options> options = ValidateOptions(&fields_.values(), layers);
    EXPECT_TRUE(options.ok()) << options.status().message();
    if (!options.ok()) return "";
    if (row.change != OptionChange::kAnyTime) {
      return Text(row, layers.Merge(fields_.values(), /*with_pinned=*/true));
    }
    ThresholdLayers thresholds(options.value());
    EXPECT_TRUE(thresholds.Configure(OnlyThresholds(configured_.values())).ok());
    if (!file_.empty()) {
      EXPECT_TRUE(thresholds.Configure(ParseConfig(file_).value()).ok());
    }
    return Text(row, thresholds.values());
  }

  static std::string Text(const OptionRow& row, const jankbox_options& values) {
    if (row.text != nullptr) return values.*row.text;
    return std::to_string(values.*row.number);
  }

 private:
  std::string run_;
  PropertyValues properties_;
  OptionSet fields_;
  OptionSet configured_;
  std::string file_;
  const char* own_variable_ = nullptr;
};

std::string OutcomeOf(const OptionRow& row, Channel channel, const std::string& value) {
  Start start;
  start.Say(channel, row, value);
  return start.Outcome(row);
}

class OptionOrder : public testing::TestWithParam<const OptionRow*> {};

TEST_P(OptionOrder, TheStrongerChannelWins) {
  const OptionRow& row = *GetParam();
  const std::string first = Value(row, 0);
  const std::string second = Value(row, 1);
  ASSERT_NE(OutcomeOf(row, Channel::kField, first), OutcomeOf(row, Channel::kField, second));
  for (const Channel weak : kChannels) {
    for (const Channel strong : kChannels) {
      if (weak >= strong || !Carries(weak, row) || !Carries(strong, row)) continue;
      for (const auto& [low, high] : {std::pair(first, second), std::pair(second, first)}) {
        Start start;
        start.Say(weak, row, low);
        start.Say(strong, row, high);
        const std::string both = start.Outcome(row);
        EXPECT_EQ(both, OutcomeOf(row, strong, high))
            << row.name << ": channel " << static_cast<int>(strong) << " over "
            << static_cast<int>(weak);
      }
    }
  }
}

TEST_P(OptionOrder, EachChannelCounts) {
  const OptionRow& row = *GetParam();
  const std::string field = OutcomeOf(row, Channel::kField, Value(row, 0));
  EXPECT_NE(field, OutcomeOf(row, Channel::kDefault, ""));
  for (const Channel channel : kChannels) {
    if (channel == Channel::kDefault || !Carries(channel, row)) continue;
    EXPECT_EQ(OutcomeOf(row, channel, Value(row, 0)), field)
        << row.name << ": channel " << static_cast<int>(channel);
  }
}

std::vector<const OptionRow*> AllRows() {
  std::vector<const OptionRow*> rows;
  for (const OptionRow& row : OptionRows()) rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, OptionOrder, testing::ValuesIn(AllRows()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(OptionsOfAllChannels, ReadsTheEnvironmentOfRunAndUser) {
  setenv("JANKBOX_RUN_OPTIONS", "dir='/of run',anr_ms=900,slow_message_ms?=100", 1);
  setenv("JANKBOX_OPTIONS", "dir=/of/user,history_messages=7,anr_ms=800,recrod=off", 1);
  setenv("JANKBOX_UPLOAD_URL", "http://127.0.0.1:1", 1);
  const Result<Options> options = OptionsOfAllChannels(nullptr);
  unsetenv("JANKBOX_RUN_OPTIONS");
  unsetenv("JANKBOX_OPTIONS");
  unsetenv("JANKBOX_UPLOAD_URL");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->dir, "/of run");
  EXPECT_EQ(options->anr_ns, 900'000'000u);
  EXPECT_EQ(options->slow_message_ns, 100'000'000u);
  EXPECT_EQ(options->history_messages, 7u);
  EXPECT_EQ(options->upload_url, "http://127.0.0.1:1");
  EXPECT_EQ(
      LastError(),
      "an entry of JANKBOX_OPTIONS is ignored: \"recrod\" is not an option: did you mean record?");
}

}  // namespace
}  // namespace jankbox
