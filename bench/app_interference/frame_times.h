// The times of many frames of one kind, and what ring_write's pair costs beside them. Pure but for
// the JSON.
#ifndef JANKBOX_BENCH_APP_INTERFERENCE_FRAME_TIMES_H_
#define JANKBOX_BENCH_APP_INTERFERENCE_FRAME_TIMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/machine.h"

namespace jankbox::bench {

class FrameTimes {
 public:
  void Add(uint64_t ns) { us_.push_back(static_cast<double>(ns) / 1e3); }
  size_t count() const { return us_.size(); }
  double QuantileUs(double quantile) const;

  // frames, min_us, p50_us, p99_us, p999_us, max_us.
  Json ToJson() const;

 private:
  std::vector<double> us_;
};

// "p50", "p99" and "p999" with their quantiles.
struct NamedQuantile {
  const char* name;
  double quantile;
};
inline constexpr NamedQuantile kQuantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}};

// ratios["p50_on_vs_off"] and so on: (`times` - `less_us`) by `by`.
void AddRatios(const std::string& suffix, const FrameTimes& times, double less_us,
               const FrameTimes& by, Json* ratios);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_APP_INTERFERENCE_FRAME_TIMES_H_
