// A capture as tables: ranks, modules, steps, operators, blocks, events, calls. docs/exports.md has their columns.
#ifndef TOOLS_VIEW_DATABASE_CAPTURE_TABLES_H_
#define TOOLS_VIEW_DATABASE_CAPTURE_TABLES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/pass/step_times.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/model/capture.h"
#include "tools/view/database/sqlite_file.h"

namespace memoir {

class CaptureTables {
 public:
  // `own`: as Selection::own.
  CaptureTables(SqliteFile& file, std::string_view own);

  void AddRanks(const Capture& capture, const ReplayReport& report);
  void AddSteps(const std::vector<StepTime>& steps);
  void AddNode(const StreamedNode& node, const ReplayState& state);
  // With a new state: numbers of lines are of one replay.
  void AddBlock(const BlockLife& life, const BlockCategories& categories, const ReplayState& state);
  void AddIndices();  // after all rows

 private:
  void AddCall(const StreamedNode& node, const ReplayState& state);
  SqlValue ModuleOf(ModuleId module, const Dictionary& dictionary);

  SqliteFile& file_;
  SourceLines lines_;
  std::vector<bool> known_modules_;  // by ModuleId: it has its row
  std::size_t ranks_, modules_, steps_, operators_, blocks_, events_, calls_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_CAPTURE_TABLES_H_
