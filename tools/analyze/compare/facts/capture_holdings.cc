#include "tools/analyze/compare/facts/capture_holdings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/compare/facts/live_calls.h"
#include "tools/analyze/compare/facts/reserved_book.h"
#include "tools/analyze/compare/match/module_names.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/instant.h"
#include "tools/analyze/pass/visitor_group.h"

namespace memoir {
namespace {

constexpr std::size_t kOperator = 0, kModule = 1, kLine = 2, kCategory = 3, kOther = 4, kFacets = 5;
constexpr std::array<GroupBy, kOther> kFacetBy = {GroupBy::kOperator, GroupBy::kModule, GroupBy::kLine,
                                                  GroupBy::kCategory};

// The label of bytes in segments that were reserved before the recording began.
constexpr char kReservedBefore[] = "(reserved before)";

// The group of a block in each grouping, and whether the block was allocated before the selection.
using PartKey = std::pair<std::array<Group, kFacets>, bool>;

class CaptureHoldingsPass : public ChangePass {
 public:
  CaptureHoldingsPass(const Capture& capture, const CaptureHoldingsOptions& options,
                      const std::vector<Grouping>& groupings, const Instants& instants)
      : ChangePass(capture, options), groupings_(groupings), instants_(instants), whole_(IsWhole(options)) {}
  CaptureHoldings result;

 protected:
  void SeeBlockAdded(const Block& block, const Event& event) override {
    NoteLine(block);
    if (const auto book = reserved_.find(block.device); book != reserved_.end() && book->second.awaits_block())
      book->second.TakeFor(block, ReservedKeyOf(block, event.process));
    last_[block.device] = {block.phase, block.module, true};
    if (Passed(block.device)) return;
    PartKey key{{}, false};
    for (std::size_t i = 0; i < groupings_.size(); ++i) {
      const bool grouped = in_window() || whole_ || NeedsCategories(groupings_[i].by());
      key.first[i] = groupings_[i].GroupOf(block, event.process, state().dictionary(), !grouped);
      key.second = key.second || !grouped;
    }
    blocks_[block.device][block.address] = {key, block.bytes, RequestedOf(block), block.tick,
                                            calls_.OpenOn(block.thread)};
  }
  void SeeBlockRemoved(const Block& block) override {
    last_[block.device].allocated = false;
    line_peaks_[block.device].Remove(block.address);
    if (!Passed(block.device)) blocks_[block.device].erase(block.address);
  }
  void SeeChange(const Event&, DeviceId id, Device& device) override {
    const auto instant = instants_.find(id);
    if (instant == instants_.end() || device.changes != instant->second.after || Passed(id)) return;
    Take(id, device, instant->second);
  }
  void SeeSegment(const SegmentEvent& event) override {
    result.maps_segments = result.maps_segments || event.action == SegmentAction::kMap;
    NoteSegment(event);
    ChangePass::SeeSegment(event);
  }
  void SeeWindowOpen(const Event& event) override {
    for (auto& [id, book] : reserved_) book.NoteReserved(state().memory(id).reserved().all);
    ChangePass::SeeWindowOpen(event);
  }
  void SeeModuleEnter(const ModuleEvent& event) override {
    if (event.module.valid()) modules_.insert(event.module);
    calls_.Enter(event);
  }
  void SeeModuleExit(const ModuleEvent& event) override { calls_.Exit(event); }
  // Ignores steps that begin with a call of a model, because the step's batch may be loaded before the call.
  void SeeStepBegin(StepSource source, const Event& event) override {
    if (source == steps().source() && source != StepSource::kModule) step_begin_ = event.tick;
  }
  void SeeProcessEnd(const ProcessEvent& event) override {
    for (auto& [id, device] : devices()) {
      if (device.process != event.process || Passed(id)) continue;
      blocks_[id].clear();
      Device none = device;
      none.live = 0;
      Take(id, none, {0, 0});
    }
    blocks_.clear();
    for (const auto& [id, book] : reserved_) {
      if (const auto taken = done_.find(id); taken != done_.end()) AddReserved(book, result.devices[taken->second]);
    }
    reserved_.clear();
    for (const auto& [id, peaks] : line_peaks_) {
      const auto taken = done_.find(id);
      if (taken == done_.end()) continue;
      std::vector<LinePeak>& of_lines = result.devices[taken->second].line_peaks;
      for (const auto& [key, bytes] : peaks.most())
        of_lines.push_back({groupings_[kLine].LineOf(key.first, state().dictionary()),
                            groupings_[kCategory].Label(key.second, capture(), state().dictionary()), bytes});
    }
    line_peaks_.clear();
    step_begin_ = 0;
    calls_.EndProcess();
  }
  void SeeEnd(const ReplayReport&) override {
    const Dictionary& dictionary = state().dictionary();
    for (const ModuleId id : modules_) result.modules.push_back(dictionary.module(id));
    std::map<Group, SeenLine> lines;
    for (const auto& [what, bytes] : seen_) {
      const auto& [line, maker, module] = what;
      SeenLine& seen = lines[line];
      seen.line = groupings_[kLine].LineOf(line, dictionary);
      const std::string path = module.valid() ? PathWithoutWrappers(dictionary.module(module).path) : "";
      seen.bytes += bytes;
      seen.marks.insert(OperatorKeyOf(dictionary.text(maker), path));
    }
    for (auto& [group, seen] : lines) result.lines.push_back(std::move(seen));
    result.missing_lines = groupings_[kLine].Missing(dictionary);
    result.missing_categories = groupings_[kCategory].Missing(dictionary);
  }

 private:
  struct LiveBlock {
    PartKey key;
    std::uint64_t bytes = 0, requested = 0;
    Tick tick = 0;
    std::size_t model_call = 0;  // call of an outermost module that made the block (CallNumbers); 0: no call
  };
  struct Allocation {
    Phase phase = Phase::kOther;
    ModuleId module;
    bool allocated = false;  // the newest change of the device is this allocation
  };
  static bool IsWhole(const Selection& selection) { return selection.window.kind == SelectionWindow::Kind::kAll; }
  static std::uint64_t RequestedOf(const Block& block) {
    return block.requested_bytes == 0 ? block.bytes : block.requested_bytes;
  }
  bool Passed(DeviceId id) const { return done_.contains(id); }
  void NoteLine(const Block& block) {
    if (!block.line_callstack().valid() || groupings_[kLine].IsSeparate(block)) return;
    const auto of = [&](std::size_t facet) { return groupings_[facet].GroupOf(block, {}, state().dictionary()); };
    const Group line = of(kLine);
    seen_[{line, MakerOf(block), block.module}] += block.bytes;
    line_peaks_[block.device].Add(block.address, {line, of(kCategory)}, block.bytes, is_inside());
  }
  ReservedKey ReservedKeyOf(const Block& block, ProcessId process) const {
    const auto of = [&](std::size_t facet) { return groupings_[facet].GroupOf(block, process, state().dictionary()); };
    return {of(kOperator), of(kModule), of(kLine), static_cast<Group>(PlaceOf(block))};
  }
  void NoteSegment(const SegmentEvent& event);
  void AddReserved(const ReservedBook& book, HeldDevice& held) const;
  void Take(DeviceId id, const Device& device, const Instant& instant);
  HeldPart PlacedPart(const PartKey& key) const;
  HeldPart PartOf(const PartKey& key) const;
  std::string LabelOf(std::size_t facet, const PartKey& key) const {
    const Group group = key.first[facet];
    const std::string label = groupings_[facet].Label(group, capture(), state().dictionary());
    const bool is_marked = key.second && group != kBeforeGroup && !NeedsCategories(groupings_[facet].by());
    return is_marked ? absl::StrCat(label, " ", kBeforeLabel) : label;
  }

  const std::vector<Grouping>& groupings_;  // in the order of kFacetBy
  const Instants& instants_;
  const bool whole_;
  std::map<DeviceId, absl::flat_hash_map<std::uint64_t, LiveBlock>> blocks_;
  std::map<DeviceId, Allocation> last_;
  std::map<DeviceId, ReservedBook> reserved_;
  std::map<DeviceId, LinePeaks> line_peaks_;
  std::map<DeviceId, std::size_t> done_;  // index in result.devices of each device whose instant has passed
  std::set<ModuleId> modules_;
  CallNumbers calls_;
  Tick step_begin_ = 0;  // when the newest step of the current process began; 0: no step yet
  // Bytes allocated, by line, operator and module.
  absl::flat_hash_map<std::tuple<Group, NameId, ModuleId>, std::uint64_t> seen_;
};

// Returns a part with the operator, module and line of `key`. Its category and its sizes are not set.
HeldPart CaptureHoldingsPass::PlacedPart(const PartKey& key) const {
  const Dictionary& dictionary = state().dictionary();
  HeldPart part;
  part.operator_name = LabelOf(kOperator, key);
  const Group in_module = key.first[kModule];
  const bool of_a_module = in_module != kBeforeGroup && !groupings_[kModule].IsNone(in_module) &&
                           !groupings_[kModule].IsWorkspace(in_module);
  if (of_a_module) part.module = dictionary.module(Grouping::ModuleOf(in_module).module);
  if (!of_a_module) part.module_label = LabelOf(kModule, key);
  part.line = groupings_[kLine].LineOf(key.first[kLine], dictionary);
  if (!part.line.known()) part.line_label = LabelOf(kLine, key);
  return part;
}

HeldPart CaptureHoldingsPass::PartOf(const PartKey& key) const {
  HeldPart part = PlacedPart(key);
  part.category = LabelOf(kCategory, key);
  part.is_of_library = IsOfLibrary(groupings_[kCategory].CategoryOfGroup(key.first[kCategory]));
  if (groupings_.size() > kOther) part.other = LabelOf(kOther, key);
  return part;
}

void CaptureHoldingsPass::NoteSegment(const SegmentEvent& event) {
  const Block& segment = *event.segment;
  const bool shrinks = event.action == SegmentAction::kFree || event.action == SegmentAction::kUnmap;
  ReservedBook& book = reserved_[segment.device];
  if (event.grows()) book.Grow(segment, ReservedKeyOf(segment, event.process));
  if (shrinks) book.Shrink(segment.address, segment.bytes);
  if (in_window()) book.NoteReserved(state().memory(segment.device).reserved().all);
}

void CaptureHoldingsPass::AddReserved(const ReservedBook& book, HeldDevice& held) const {
  held.reserved_bytes = book.peak();
  std::uint64_t known = 0;
  for (const auto& [key, bytes] : book.AtPeak()) {
    HeldPart part = PlacedPart({{key[kOperator], key[kModule], key[kLine]}, false});
    part.category = ToString(static_cast<ReservedPlace>(key[kCategory]));
    part.bytes = bytes;
    known += bytes;
    held.reserved_parts.push_back(std::move(part));
  }
  if (known >= held.reserved_bytes) return;
  HeldPart before;
  before.operator_name = before.module_label = before.line_label = kReservedBefore;
  before.bytes = held.reserved_bytes - known;
  held.reserved_parts.push_back(std::move(before));
}

void CaptureHoldingsPass::Take(DeviceId id, const Device& device, const Instant& instant) {
  done_[id] = result.devices.size();
  HeldDevice held;
  held.name = ToString(state().dictionary().device(id));
  held.process = device.process;
  held.ns = instant.ns;
  held.bytes = device.live;
  absl::flat_hash_map<PartKey, HeldPart> parts;
  std::map<std::size_t, std::uint64_t> bytes_of_calls;
  for (const auto& [address, live] : blocks_[id]) {
    const auto [found, is_new] = parts.try_emplace(live.key);
    if (is_new) found->second = PartOf(live.key);
    found->second.bytes += live.bytes;
    found->second.blocks += 1;
    found->second.requested += live.requested;
    bytes_of_calls[live.model_call] += live.bytes;
    found->second.before_step += live.tick < step_begin_ ? live.bytes : 0;
    held.blocks += 1;
  }
  for (auto& [key, part] : parts) held.parts.push_back(std::move(part));
  held.live_calls = calls_.CountLive(bytes_of_calls, state().dictionary());
  const Allocation& last = last_[id];
  if (last.allocated) held.phase = last.phase;
  if (last.allocated && last.module.valid()) held.module = state().dictionary().module(last.module).display_path();
  blocks_[id].clear();
  result.devices.push_back(std::move(held));
}

Task<absl::StatusOr<std::vector<Grouping>>> FacetsOf(SharedCategories& shared, const CaptureHoldingsOptions& options) {
  std::vector<GroupBy> wanted(kFacetBy.begin(), kFacetBy.end());
  if (options.other) wanted.push_back(*options.other);
  std::vector<Task<absl::StatusOr<Grouping>>> made;  // all of them wait for the same replay
  made.reserve(wanted.size());
  for (const GroupBy by : wanted) made.push_back(Grouping::Make(shared, by, options.own));
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!categories.ok()) co_return categories.status();
  std::vector<Grouping> groupings;
  for (Task<absl::StatusOr<Grouping>>& one : made) {
    absl::StatusOr<Grouping> grouping = co_await std::move(one);
    if (!grouping.ok()) co_return grouping.status();
    if (Grouping::SeparatesWorkspaces(grouping->by())) grouping->SeparateWorkspaces((*categories)->workspaces);
    groupings.push_back(*std::move(grouping));
  }
  co_return groupings;
}

}  // namespace

Task<absl::StatusOr<CaptureHoldings>> AnalyzeCaptureHoldings(SharedCategories& shared, CaptureHoldingsOptions options) {
  const Task<absl::StatusOr<std::vector<Grouping>>> find_facets = FacetsOf(shared, options);
  const absl::StatusOr<Instants> instants = co_await FindInstants(shared.replays(), options, options.at);
  if (!instants.ok()) co_return instants.status();
  const absl::StatusOr<std::vector<Grouping>>& groupings = co_await find_facets;
  if (!groupings.ok()) co_return groupings.status();
  CaptureHoldingsPass pass(shared.capture(), options, *groupings, *instants);
  ProgramFactsPass facts(options.own);
  CallFactsPass calls(options.own);
  VisitorGroup visitors({&pass, &facts, &calls});
  absl::StatusOr<ReplayReport> report = co_await shared.replays().Next(visitors, {.tensors = true, .modules = true});
  if (!report.ok()) co_return report.status();
  CaptureHoldings held = std::move(pass.result);
  held.facts = facts.Take();
  held.facts.calls = calls.Take();
  held.report = *std::move(report);
  co_return held;
}

}  // namespace memoir
