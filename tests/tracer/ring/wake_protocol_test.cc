// The protocol of WatcherWake, in every order in which its steps can happen on a processor that
// delays stores: an app's thread begins something while the watcher goes to sleep.
#include <gtest/gtest.h>

#include <compare>
#include <set>

namespace jankbox {
namespace {

struct State {
  // The app's thread: 0 stores the begin, 1 loads `asleep`, 2 wakes if it was set, 3 is done.
  int app = 0;
  bool begun_stored = false;   // in the thread's own store buffer
  bool begun_visible = false;  // to all
  bool saw_asleep = false;
  // The watcher: 0 says that it sleeps, 1 lets what was stored come out, by membarrier() or by
  // waiting for so long that no processor delays a store, 2 looks, 3 sleeps if it saw nothing.
  int watcher = 0;
  bool asleep = false;
  bool woken = false;
  bool seen = false;

  auto operator<=>(const State&) const = default;
};

class Model {
 public:
  // `confirms`: the watcher does step 1.
  explicit Model(bool confirms) : confirms_(confirms) { Go({}); }
  bool missed() const { return missed_; }
  size_t states() const { return states_.size(); }

 private:
  void Go(const State& state) {
    if (!states_.insert(state).second) return;
    if (state.app == 3 && state.watcher == 4) {
      missed_ = missed_ || (!state.seen && !state.woken);
      return;
    }
    if (state.begun_stored && !state.begun_visible) {  // the store comes out, at any time
      State next = state;
      next.begun_visible = true;
      Go(next);
    }
    StepApp(state);
    StepWatcher(state);
  }

  void StepApp(State next) {
    switch (next.app++) {
      case 0:
        next.begun_stored = true;
        break;
      case 1:
        next.saw_asleep = next.asleep;  // also before its own store comes out
        break;
      case 2:  // the exchange is a fence
        if (next.saw_asleep) next.begun_visible = true, next.woken = true;
        break;
      default:
        return;
    }
    Go(next);
  }

  void StepWatcher(State next) {
    switch (next.watcher++) {
      case 0:
        next.asleep = true;
        break;
      case 1:
        if (confirms_ && next.begun_stored) next.begun_visible = true;
        break;
      case 2:
        next.seen = next.begun_visible;
        break;
      case 3:
        break;
      default:
        return;
    }
    Go(next);
  }

  const bool confirms_;
  std::set<State> states_;
  bool missed_ = false;
};

TEST(WakeProtocol, MissesNothingOnceTheWatcherLooksAgain) {
  const Model model(/*confirms=*/true);
  EXPECT_FALSE(model.missed());
  EXPECT_GT(model.states(), 30u);
}

TEST(WakeProtocol, WouldMissABeginOtherwise) { EXPECT_TRUE(Model(/*confirms=*/false).missed()); }

}  // namespace
}  // namespace jankbox
