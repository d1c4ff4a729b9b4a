// Makes the rows of a capture's tables for any format. capture_columns.h defines their columns.
#ifndef TOOLS_VIEW_DATABASE_CAPTURE_TABLES_H_
#define TOOLS_VIEW_DATABASE_CAPTURE_TABLES_H_

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/pass/step_times.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/model/capture.h"
#include "tools/view/database/table_sink.h"

namespace memoir {

class CaptureTables {
 public:
  // `own`: as Selection::own.
  CaptureTables(const TableSink& sink, std::string_view own);

  // `compared`: the ranks of the whole job. Empty if they were not compared.
  void AddRanks(const Capture& capture, const ReplayReport& report, const OddRanks& compared);
  void AddSteps(const std::vector<StepTime>& steps);
  void AddNode(const StreamedNode& node, const ReplayState& state);
  // All calls must pass the state of the same replay, because ids of lines are valid only in one replay.
  void AddBlock(const BlockLife& life, const BlockCategories& categories, const ReplayState& state);
  // Adds the modules that occur in blocks but in no node. Call it after all nodes and blocks: in the table, modules of
  // nodes come first.
  void AddModulesOfBlocks();
  void AddSummary(const Summary& summary);

 private:
  void Insert(CaptureTable table, std::span<const CellValue> row);
  void Insert(CaptureTable table, std::initializer_list<CellValue> row);
  void AddCall(const StreamedNode& node, const ReplayState& state);
  CellValue ModuleOf(ModuleId module, const Dictionary& dictionary);
  void AddModule(ModuleId id, const Module& module);

  const TableSink& sink_;
  SourceLines lines_;
  std::vector<bool> known_modules_;  // by ModuleId; true: the module has a row
  std::vector<bool> block_modules_;  // by ModuleId; true: the module is in modules_of_blocks_
  std::vector<std::pair<ModuleId, Module>> modules_of_blocks_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_CAPTURE_TABLES_H_
