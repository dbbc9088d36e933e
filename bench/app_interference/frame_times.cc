#include "bench/app_interference/frame_times.h"

#include "bench/harness/bench_main.h"
#include "bench/harness/rounds.h"

namespace jankbox::bench {

double FrameTimes::QuantileUs(double quantile) const { return Quantile(us_, quantile); }

Json FrameTimes::ToJson() const {
  Json json;
  json["frames"] = count();
  json["min_us"] = Rounded(QuantileUs(0), 5);
  for (const NamedQuantile& q : kQuantiles) {
    json[std::string(q.name) + "_us"] = Rounded(QuantileUs(q.quantile), 5);
  }
  json["max_us"] = Rounded(QuantileUs(1), 5);
  return json;
}

void AddRatios(const std::string& suffix, const FrameTimes& times, double less_us,
               const FrameTimes& by, Json* ratios) {
  for (const NamedQuantile& q : kQuantiles) {
    (*ratios)[std::string(q.name) + suffix] =
        Rounded((times.QuantileUs(q.quantile) - less_us) / by.QuantileUs(q.quantile), 5);
  }
}

}  // namespace jankbox::bench
