#include "sdk/api/option_layers.h"

#include <sys/auxv.h>

#include <cstdlib>

#include "sdk/api/option_entries.h"
#include "sdk/api/option_texts.h"

namespace jankbox {

void OptionLayers::Take(const std::string& channel, std::string_view name, std::string_view value,
                        OptionSet* layer) {
  Status status = layer->Set(name, value);
  const OptionRow* row = FindOption(name);
  if (status.ok() && row->text != nullptr && row->IsSetIn(layer->values())) {
    status = CheckText(*row, layer->values());
    if (!status.ok()) layer->Clear(*row);
  }
  if (status.ok()) return;
  ignored += (ignored.empty() ? "" : "; ") + channel + " is ignored: " + status.message();
}

void OptionLayers::TakeEntries(const std::string& channel, std::string_view text, OptionSet* layer,
                               OptionSet* weak_layer) {
  OptionEntries entries(text);
  OptionEntry entry;
  while (entries.Next(&entry)) {
    const bool weak = entry.weak && weak_layer != nullptr;
    Take("an entry of " + channel, entry.name, Unquoted(entry.raw_value),
         weak ? weak_layer : layer);
  }
}

void OptionLayers::TakeEnvironment() {
  TakeEntries("JANKBOX_OPTIONS", Variable("JANKBOX_OPTIONS"), &environment);
  for (const OptionRow& row : OptionRows()) {
    if (row.variable == nullptr) continue;
    const std::string_view value = Variable(row.variable);
    if (!value.empty()) Take(row.variable, row.name, value, &environment);
  }
}

jankbox_options OptionLayers::Merge(const jankbox_options& fields, bool with_pinned) const {
  jankbox_options merged{};
  merged.size = sizeof(merged);
  for (const OptionRow& row : OptionRows()) {
    if (with_pinned && row.IsSetIn(pinned.values())) {
      row.Copy(pinned.values(), &merged);
    } else if (row.IsSetIn(fields)) {
      row.Copy(fields, &merged);
    } else if (row.IsSetIn(environment.values())) {
      row.Copy(environment.values(), &merged);
    } else if (row.IsSetIn(suggested.values())) {
      row.Copy(suggested.values(), &merged);
    } else if (row.text != nullptr) {
      merged.*row.text = row.default_text;
    } else {
      merged.*row.number = row.default_number;
    }
  }
  return merged;
}

std::string_view Variable(const char* name) {
  const char* value = getauxval(AT_SECURE) == 0 ? getenv(name) : nullptr;
  return value != nullptr ? value : "";
}

}  // namespace jankbox
