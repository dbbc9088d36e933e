// In which order reports are named, from the rows of the store.
#include "collector/symbols/naming_store.h"

#include <gtest/gtest.h>

#include "collector/symbols/symbol_demand.h"
#include "collector/symbols/symbol_store.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

constexpr char kBuildId[] = "00112233445566778899aabbccddeeff00112233";

// A trace's wishes mark its report as indexed, so a report that arrives after the last look at new
// ones would never get names.
TEST(NamingStoreTest, TraceIsNamedAfterItsReportIsIndexed) {
  const TemporaryFolder folder;
  const auto store = ReportStore::Open(folder.path());
  ASSERT_TRUE(store.ok()) << store.status().message();
  SymbolStore symbols(store->get(), folder.path());
  SymbolFile file;
  file.key = kBuildId;
  file.path = "/symbols/program";
  file.contents = ElfContents::kDebugInfo;
  ASSERT_TRUE(symbols.Put(file).ok());
  StoredReport stored;
  stored.report = SampleReport();
  stored.content_hash = std::string(16, 'h');
  ASSERT_TRUE(store->get()->Save(stored).ok());

  NamingStore namings(store->get());
  SymbolDemand demand(store->get());
  EXPECT_EQ(demand.ToIndex(8).value(), std::vector<std::string>{stored.report.id()});
  EXPECT_EQ(namings.TracesToName(8).value(), std::vector<std::string>());
  ASSERT_TRUE(demand.Add(stored.report.id(), stored.content_hash, {{kBuildId, "program"}}).ok());
  EXPECT_EQ(demand.ToIndex(8).value(), std::vector<std::string>());
  EXPECT_EQ(namings.ToName(8).value(), std::vector<std::string>{stored.report.id()});
  EXPECT_EQ(namings.TracesToName(8).value(), std::vector<std::string>{stored.report.id()});
}

}  // namespace
}  // namespace jankbox::collector
