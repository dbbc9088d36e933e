// What is asked of Jankbox from outside the program. Order of all channels: pinned > thresholds
// changed while recording (sdk/api/threshold_layers.h) > fields of jankbox_options > environment >
// suggested > the table's default. A bad entry from outside never keeps the program from starting:
// it is passed over and named. Cold; allocates. Threads: one.
#ifndef JANKBOX_SDK_API_OPTION_LAYERS_H_
#define JANKBOX_SDK_API_OPTION_LAYERS_H_

#include <string>
#include <string_view>

#include "jankbox/jankbox.h"
#include "sdk/api/option_set.h"

namespace jankbox {

struct OptionLayers {
  OptionSet pinned;       // a developer's properties, or the command line of `jankbox run`
  OptionSet environment;  // JANKBOX_OPTIONS and the variables of single options
  OptionSet suggested;    // what `jankbox run` does if nobody says otherwise
  std::string ignored;    // entries that make no sense, in one line; empty: none

  // Sets one option of `layer`, one of the three above; `channel` names it in `ignored`.
  void Take(const std::string& channel, std::string_view name, std::string_view value,
            OptionSet* layer);
  // The entries of a text as in JANKBOX_OPTIONS; weak ones to `weak_layer`, if there is one.
  void TakeEntries(const std::string& channel, std::string_view text, OptionSet* layer,
                   OptionSet* weak_layer = nullptr);
  // JANKBOX_OPTIONS, then the options' own variables, which win.
  void TakeEnvironment();

  // The value of every option: of `fields` and of all layers. Without `with_pinned`: as if nothing
  // were pinned. Texts point to `fields` and to the layers.
  jankbox_options Merge(const jankbox_options& fields, bool with_pinned) const;
};

// An environment variable; "" if it is not set, or the program runs with more rights than its user.
std::string_view Variable(const char* name);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_OPTION_LAYERS_H_
