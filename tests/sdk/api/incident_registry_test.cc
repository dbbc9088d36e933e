// The registry of the app's listeners: what they are told, what they may say, and what holds while
// they come and go.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

#include "sdk/api/incident_listeners.h"
#include "tests/fakes/latch.h"
#include "tests/fakes/reports.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A listener that does what the test says.
class Ear {
 public:
  using Heard = std::function<int(const jankbox_incident*)>;

  explicit Ear(IncidentListeners* listeners, Heard heard = {})
      : listeners_(listeners), heard_(std::move(heard)) {
    added = listeners_->Add(&Call, this).ok();
  }
  ~Ear() { Remove(); }
  void Remove() { listeners_->Remove(&Call, this); }

  bool added = false;
  std::atomic<int> calls{0};

 private:
  static int Call(const jankbox_incident* incident, void* context) {
    auto* ear = static_cast<Ear*>(context);
    ++ear->calls;
    return ear->heard_ ? ear->heard_(incident) : JANKBOX_INCIDENT_REPORT;
  }

  IncidentListeners* const listeners_;
  const Heard heard_;
};

class IncidentRegistryTest : public testing::Test {
 protected:
  bool Ask() { return listeners_.Ask({"Feed::Bind", 1'000, 4'000}, &report_); }

  IncidentListeners listeners_;
  Report report_ = FakeReport(ReportKind::kLag);
};

TEST_F(IncidentRegistryTest, WithoutAListenerEverythingIsWanted) { EXPECT_TRUE(Ask()); }

TEST_F(IncidentRegistryTest, ListenerIsToldTheWholeIncident) {
  report_.revision = 3;
  report_.ongoing = true;
  report_.duration_ns = 2'500;
  report_.tid = 77;
  report_.thread = "main";
  report_.what = "sync";
  report_.fingerprint = "0123";
  report_.verdict.summary = "100 % on the CPU";
  Ear ear(&listeners_, [&](const jankbox_incident* incident) {
    EXPECT_EQ(incident->size, sizeof(jankbox_incident));
    EXPECT_EQ(incident->kind, static_cast<uint32_t>(JANKBOX_KIND_LAG));
    EXPECT_EQ(incident->id, report_.id);
    EXPECT_EQ(incident->revision, 3u);
    EXPECT_EQ(incident->ongoing, 1);
    EXPECT_EQ(incident->duration_ns, 2'500u);
    EXPECT_EQ(incident->begin_ns, 1'000u);
    EXPECT_EQ(incident->end_ns, 4'000u);
    EXPECT_EQ(incident->tid, 77);
    EXPECT_STREQ(incident->thread, "main");
    EXPECT_STREQ(incident->what, "sync");
    EXPECT_STREQ(incident->summary, "100 % on the CPU");
    EXPECT_STREQ(incident->place, "Feed::Bind");
    EXPECT_STREQ(incident->fingerprint, "0123");
    return JANKBOX_INCIDENT_REPORT;
  });
  EXPECT_TRUE(Ask());
  EXPECT_EQ(ear.calls, 1);
}

TEST_F(IncidentRegistryTest, OneVetoIsEnoughAndAllAreAsked) {
  Ear first(&listeners_);
  Ear veto(&listeners_, [](const jankbox_incident*) { return JANKBOX_INCIDENT_VETO; });
  Ear last(&listeners_);
  EXPECT_FALSE(Ask());
  EXPECT_EQ(first.calls, 1);
  EXPECT_EQ(last.calls, 1) << "they hear of it, though it will not be written";
}

TEST_F(IncidentRegistryTest, AnswerThatIsNoneIsNoVeto) {
  Ear odd(&listeners_, [](const jankbox_incident*) { return 42; });
  EXPECT_TRUE(Ask());
}

TEST_F(IncidentRegistryTest, SamePairIsOneListener) {
  Ear ear(&listeners_);
  Ear again(&listeners_);
  ear.Remove();
  EXPECT_TRUE(Ask());
  EXPECT_EQ(ear.calls, 0);
  EXPECT_EQ(again.calls, 1) << "another context is another listener";
}

TEST_F(IncidentRegistryTest, AtMostSixteenAndPlaceIsMadeByRemoving) {
  std::vector<std::unique_ptr<Ear>> ears;
  for (size_t i = 0; i < IncidentListeners::kMaxListeners; ++i) {
    ears.push_back(std::make_unique<Ear>(&listeners_));
  }
  Ear one_too_many(&listeners_);
  EXPECT_FALSE(one_too_many.added);
  Ask();
  EXPECT_EQ(one_too_many.calls, 0);
  ears.erase(ears.begin() + 5);
  Ear fits(&listeners_);
  Ask();
  EXPECT_EQ(fits.calls, 1);
  EXPECT_EQ(ears[0]->calls, 2);
}

TEST_F(IncidentRegistryTest, RemovingOneThatIsNotThereIsNothing) {
  Ear ear(&listeners_);
  ear.Remove();
  ear.Remove();
  EXPECT_TRUE(Ask());
  EXPECT_EQ(ear.calls, 0);
}

TEST_F(IncidentRegistryTest, ListenerMayRemoveItself) {
  Ear* self = nullptr;
  Ear once(&listeners_, [&](const jankbox_incident*) {
    self->Remove();
    return JANKBOX_INCIDENT_VETO;
  });
  self = &once;
  Ear other(&listeners_);
  EXPECT_FALSE(Ask()) << "its last word counts";
  EXPECT_TRUE(Ask());
  EXPECT_EQ(once.calls, 1);
  EXPECT_EQ(other.calls, 2);
}

TEST_F(IncidentRegistryTest, ListenerMayRemoveAnotherThatIsThenNotAsked) {
  std::unique_ptr<Ear> later;
  Ear first(&listeners_, [&](const jankbox_incident*) {
    later->Remove();
    return JANKBOX_INCIDENT_REPORT;
  });
  later = std::make_unique<Ear>(&listeners_);
  Ask();
  EXPECT_EQ(later->calls, 0) << "when Remove() returns, it does not run and will not";
}

TEST_F(IncidentRegistryTest, ListenerMayAddAnother) {
  std::unique_ptr<Ear> added;
  Ear first(&listeners_, [&](const jankbox_incident*) {
    if (added == nullptr) added = std::make_unique<Ear>(&listeners_);
    return JANKBOX_INCIDENT_REPORT;
  });
  Ask();
  Ask();
  EXPECT_GE(added->calls, 1);
  EXPECT_EQ(first.calls, 2);
}

TEST_F(IncidentRegistryTest, RemoveWaitsForTheCallInProgress) {
  Latch entered, leave;
  std::atomic<bool> left{false};
  Ear slow(&listeners_, [&](const jankbox_incident*) {
    entered.Open();
    leave.Wait();
    left = true;
    return JANKBOX_INCIDENT_REPORT;
  });
  std::thread asking([&] { Ask(); });
  ASSERT_TRUE(entered.Wait());
  std::thread removing([&] {
    slow.Remove();
    EXPECT_TRUE(left) << "what the listener uses may be freed now";
  });
  leave.Open();
  removing.join();
  asking.join();
}

TEST_F(IncidentRegistryTest, TwoThreadsComeAndGoWhileAThirdAsks) {
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  const auto come_and_go = [&] {
    while (!done) {
      std::atomic<bool> alive{true};
      {
        Ear ear(&listeners_, [&](const jankbox_incident*) {
          if (!alive) ++wrong;
          return JANKBOX_INCIDENT_REPORT;
        });
      }
      alive = false;
    }
  };
  std::thread first(come_and_go), second(come_and_go);
  for (int i = 0; i < 2000; ++i) EXPECT_TRUE(Ask());
  done = true;
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

class AttributesTest : public IncidentRegistryTest {
 protected:
  bool Add(const jankbox_incident* incident, const std::string& key, const std::string& value) {
    return listeners_.AddAttribute(incident, key.c_str(), value.c_str()).ok();
  }
  // Asks a listener that does `add`.
  void Within(const std::function<void(const jankbox_incident*)>& add) {
    Ear ear(&listeners_, [&](const jankbox_incident* incident) {
      add(incident);
      return JANKBOX_INCIDENT_REPORT;
    });
    Ask();
    ASSERT_EQ(ear.calls, 1);
  }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const ReportAttribute& attribute : report_.attributes) {
      lines.push_back(attribute.key + "=" + attribute.value);
    }
    return lines;
  }
};

TEST_F(AttributesTest, AreInTheReport) {
  Within([&](const jankbox_incident* incident) {
    EXPECT_TRUE(Add(incident, "screen", "Checkout"));
    EXPECT_TRUE(Add(incident, "empty", ""));
  });
  EXPECT_THAT(Lines(), ElementsAre("screen=Checkout", "empty="));
}

TEST_F(AttributesTest, SameKeyReplacesTheValue) {
  Within([&](const jankbox_incident* incident) {
    EXPECT_TRUE(Add(incident, "screen", "Home"));
    EXPECT_TRUE(Add(incident, "other", "x"));
    EXPECT_TRUE(Add(incident, "screen", "Checkout"));
  });
  EXPECT_THAT(Lines(), ElementsAre("screen=Checkout", "other=x"));
}

TEST_F(AttributesTest, AtMostThirtyTwoWhichMayStillChange) {
  Within([&](const jankbox_incident* incident) {
    for (size_t i = 0; i < IncidentListeners::kMaxAttributes; ++i) {
      EXPECT_TRUE(Add(incident, "key" + std::to_string(i), "a"));
    }
    EXPECT_FALSE(Add(incident, "one too many", "a"));
    EXPECT_TRUE(Add(incident, "key0", "b"));
  });
  EXPECT_THAT(report_.attributes, SizeIs(32));
  EXPECT_EQ(report_.attributes[0].value, "b");
}

TEST_F(AttributesTest, TooLongOrMissingTextsAreRefused) {
  Within([&](const jankbox_incident* incident) {
    EXPECT_TRUE(Add(incident, std::string(64, 'k'), std::string(256, 'v')));
    EXPECT_FALSE(Add(incident, std::string(65, 'k'), "v"));
    EXPECT_FALSE(Add(incident, "k", std::string(257, 'v')));
    EXPECT_FALSE(Add(incident, "", "v"));
    EXPECT_FALSE(listeners_.AddAttribute(incident, nullptr, "v").ok());
    EXPECT_FALSE(listeners_.AddAttribute(incident, "k", nullptr).ok());
    EXPECT_FALSE(listeners_.AddAttribute(nullptr, "k", "v").ok());
  });
  EXPECT_THAT(report_.attributes, SizeIs(1));
}

TEST_F(AttributesTest, OfSeveralListenersAreTogether) {
  Ear first(&listeners_, [&](const jankbox_incident* incident) {
    Add(incident, "a", "1");
    return JANKBOX_INCIDENT_REPORT;
  });
  Ear second(&listeners_, [&](const jankbox_incident* incident) {
    Add(incident, "b", "2");
    return JANKBOX_INCIDENT_REPORT;
  });
  Ask();
  EXPECT_THAT(Lines(), ElementsAre("a=1", "b=2"));
}

TEST_F(AttributesTest, OutsideAListenerThereIsNoIncident) {
  const jankbox_incident* kept = nullptr;
  Within([&](const jankbox_incident* incident) { kept = incident; });
  EXPECT_FALSE(Add(kept, "late", "x")) << "its report may be written already";
  const jankbox_incident made_up = {};
  EXPECT_FALSE(Add(&made_up, "a", "b"));
  EXPECT_THAT(report_.attributes, IsEmpty());
}

TEST_F(AttributesTest, AnotherIncidentIsNotTheOneThatIsAskedOf) {
  Within([&](const jankbox_incident* incident) {
    const jankbox_incident copy = *incident;
    EXPECT_FALSE(Add(&copy, "a", "b"));
  });
  EXPECT_THAT(report_.attributes, IsEmpty());
}

}  // namespace
}  // namespace jankbox
