#include "tools/cli/tables/export_ranks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/tables/export_tables.h"
#include "tools/cli/tables/table_manifest.h"
#include "tools/cli/tables/written_tables.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

constexpr std::int64_t kWithoutRank = -1;  // processes without a rank, such as a launcher that trains

bool IsPartitioned(CaptureTable table) { return table != CaptureTable::kRanks && table != CaptureTable::kSummary; }

// Returns the ranks in the order of writing. nullopt stands for processes without a rank.
std::vector<std::optional<std::uint32_t>> RanksOf(const Capture& capture, const Selection& selection) {
  std::set<std::uint32_t> ranks;
  bool others = false;
  for (const ProcessSummary& process : capture.processes()) {
    if (IsIdle(capture, process.id)) continue;
    if (const auto rank = process.rank())
      ranks.insert(*rank);
    else
      others = true;
  }
  if (selection.rank) return {selection.rank};
  std::vector<std::optional<std::uint32_t>> all(ranks.begin(), ranks.end());
  if (others) all.emplace_back();
  return all;
}

// Returns true for rows of processes without a rank, which a selection cannot name. Also returns true for rows of
// modules, which all processes share.
bool IsWithoutRank(const Capture& capture, CaptureTable table, std::span<const CellValue> row) {
  const auto& columns = DefinitionOf(table).columns;
  const auto column = std::ranges::find(columns, std::string_view("process"), &TableColumn::name);
  if (column == columns.end()) return true;
  const auto* process = std::get_if<std::uint64_t>(&row[static_cast<std::size_t>(column - columns.begin())]);
  return process != nullptr && *process < capture.processes().size() && !capture.processes()[*process].rank();
}

class RankWriter {
 public:
  RankWriter(const Capture& capture, const Selection& selection, const TableSet& wanted, NewFolder& folder)
      : capture_(capture),
        selection_(selection),
        wanted_(wanted),
        folder_(folder),
        compared_(CompareRanksFor(capture, wanted)) {
    AddTables(whole_, false, "");
  }

  absl::StatusOr<ReplayReport> Write() {
    const std::vector<std::optional<std::uint32_t>> ranks = RanksOf(capture_, selection_);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (absl::Status status = WriteRank(ranks[i], i, ranks.size()); !status.ok()) return status;
    }
    if (absl::Status status = whole_.Finish(); !status.ok()) return status;
    TableManifest manifest(whole_.file_bytes());
    for (const auto& [rank, files] : files_) manifest.AddRank(rank, files);
    manifest.SetMissing(selection_.rank ? std::set<std::uint32_t>() : Missing());
    if (absl::Status status = manifest.Write(folder_); !status.ok()) return status;
    return report_;
  }

 private:
  // Returns the ranks that have no data in any attempt of the job.
  std::set<std::uint32_t> Missing() const {
    std::set<std::uint32_t> missing;
    for (const JobAttempt& attempt : DescribeJob(capture_).attempts)
      missing.insert(attempt.missing.begin(), attempt.missing.end());
    for (const auto& [rank, files] : files_) {
      if (rank != kWithoutRank) missing.erase(static_cast<std::uint32_t>(rank));
    }
    return missing;
  }

  void AddTables(WrittenTables& tables, bool partitioned, const std::string& partition) {
    for (std::size_t i = 0; i < kTables; ++i) {
      const auto table = static_cast<CaptureTable>(i);
      if (!wanted_.has(table) || IsPartitioned(table) != partitioned) continue;
      const std::string name(DefinitionOf(table).name);
      tables.Add(table, "parquet", folder_.File(name + "/" + partition + name + ".parquet"));
    }
  }

  absl::Status WriteRank(std::optional<std::uint32_t> rank, std::size_t number, std::size_t ranks) {
    const std::int64_t named = rank ? std::int64_t{*rank} : kWithoutRank;
    WrittenTables tables;
    AddTables(tables, true, "rank=" + std::to_string(named) + "/");
    const auto insert = [&](CaptureTable table, std::span<const CellValue> row) {
      if (rank || IsWithoutRank(capture_, table, row)) (IsPartitioned(table) ? tables : whole_).Insert(table, row);
    };
    const TableSink sink = {wanted_, insert, [&] { return tables.ok() && whole_.ok(); }};
    Selection selection = selection_;
    selection.rank = rank;
    if (selection_.progress != nullptr)
      selection.progress = [&, number, ranks](double part) {
        selection_.progress((static_cast<double>(number) + part) / static_cast<double>(ranks));
      };
    if (sink.ok()) {
      absl::StatusOr<ReplayReport> report =
          FillTables(capture_, selection, compared_, sink, [this](std::string_view line) { PrintOnce(line); });
      if (!report.ok()) return report.status();
      Add(*report, rank);
    }
    if (absl::Status status = tables.Finish(); !status.ok()) return status;
    files_.emplace_back(named, tables.file_bytes());
    return absl::OkStatus();
  }

  void PrintOnce(std::string_view line) {
    if (said_.emplace(line).second) PrintMessage(line);
  }

  // Adds the report of a rank to the report of all ranks.
  void Add(ReplayReport& report, std::optional<std::uint32_t> rank) {
    report_.damage.insert(report_.damage.end(), report.damage.begin(), report.damage.end());
    report_.lost_records += report.lost_records;
    report_.lost_chunks += report.lost_chunks;
    for (std::size_t i = 0; i < report.processes.size(); ++i) {
      const bool is_new = report.processes[i].replayed && (rank || !capture_.processes()[i].rank());
      if (is_new) report_.processes.push_back(std::move(report.processes[i]));
    }
  }

  const Capture& capture_;
  const Selection& selection_;
  const TableSet& wanted_;
  NewFolder& folder_;
  const OddRanks compared_;
  WrittenTables whole_;
  std::vector<std::pair<std::int64_t, TableManifest::FileBytes>> files_;
  std::set<std::string> said_;
  ReplayReport report_;
};

}  // namespace

bool IsJobOfRanks(const Capture& capture) {
  const Job job = DescribeJob(capture);
  return job.processes > 1 ||
         std::ranges::any_of(job.attempts, [](const JobAttempt& one) { return !one.missing.empty(); });
}

absl::StatusOr<ReplayReport> ExportRanks(const Capture& capture, const Selection& selection, const TableSet& wanted,
                                         NewFolder& folder) {
  absl::StatusOr<ReplayReport> report = RankWriter(capture, selection, wanted, folder).Write();
  if (report.ok()) folder.Keep();
  return report;
}

}  // namespace memoir
