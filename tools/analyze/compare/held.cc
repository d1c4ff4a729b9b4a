#include "tools/analyze/compare/held.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/compare/module_names.h"
#include "tools/analyze/compare/reserved_book.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/instant.h"

namespace memoir {
namespace {

constexpr std::size_t kOperator = 0, kModule = 1, kLine = 2, kCategory = 3, kOther = 4, kFacets = 5;
constexpr std::array<GroupBy, kOther> kFacetBy = {GroupBy::kOperator, GroupBy::kModule, GroupBy::kLine,
                                                  GroupBy::kCategory};

// Segments of which no event says what they were taken for.
constexpr char kReservedBefore[] = "(reserved before)";

// A group of each facet, and whether the block was live before the window.
using Key = std::pair<std::array<Group, kFacets>, bool>;

class HeldPass : public ChangePass {
 public:
  HeldPass(const Capture& capture, const HeldOptions& options, const std::vector<Grouping>& groupings,
           const Instants& instants)
      : ChangePass(capture, options), groupings_(groupings), instants_(instants), whole_(IsWhole(options)) {}
  Held result;

 protected:
  void Added(const Block& block, const Event& event) override {
    NoteLine(block);
    if (const auto book = reserved_.find(block.device); book != reserved_.end() && book->second.awaits_block())
      book->second.TakeFor(block, ReservedKeyOf(block, event.process));
    last_[block.device] = {block.phase, block.module, true};
    if (Passed(block.device)) return;
    Key key{{}, false};
    for (std::size_t i = 0; i < groupings_.size(); ++i) {
      const bool grouped = in_window() || whole_ || NeedsCategories(groupings_[i].by());
      key.first[i] = groupings_[i].Of(block, event.process, state().dictionary(), !grouped);
      key.second = key.second || !grouped;
    }
    blocks_[block.device][block.address] = {key, block.bytes};
  }
  void Removed(const Block& block) override {
    last_[block.device].allocated = false;
    if (!Passed(block.device)) blocks_[block.device].erase(block.address);
  }
  void Changed(const Event&, DeviceId id, Device& device) override {
    const auto instant = instants_.find(id);
    if (instant == instants_.end() || device.changes != instant->second.after || Passed(id)) return;
    Take(id, device, instant->second);
  }
  void SeeSegment(const SegmentEvent& event) override {
    result.maps_segments = result.maps_segments || event.action == SegmentAction::kMap;
    NoteSegment(event);
    ChangePass::SeeSegment(event);
  }
  void WindowOpens(const Event& event) override {
    for (auto& [id, book] : reserved_) book.NoteReserved(state().memory(id).reserved().all);
    ChangePass::WindowOpens(event);
  }
  void SeeModuleEnter(const ModuleEvent& event) override {
    if (event.module.valid()) modules_.insert(event.module);
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
      seen.marks.insert(MarkOf(dictionary.text(maker), path));
    }
    for (auto& [group, seen] : lines) result.lines.push_back(std::move(seen));
    result.missing_lines = groupings_[kLine].Missing(dictionary);
    result.missing_categories = groupings_[kCategory].Missing(dictionary);
  }

 private:
  struct Live {
    Key key;
    std::uint64_t bytes = 0;
  };
  struct Allocation {
    Phase phase = Phase::kOther;
    ModuleId module;
    bool allocated = false;  // the last change of the device
  };
  static bool IsWhole(const Selection& selection) { return selection.window.kind == Window::Kind::kAll; }
  bool Passed(DeviceId id) const { return done_.contains(id); }
  void NoteLine(const Block& block) {
    if (!block.line_callstack().valid() || groupings_[kLine].IsApart(block)) return;
    const Group line = groupings_[kLine].Of(block, {}, state().dictionary());
    seen_[{line, MakerOf(block), block.module}] += block.bytes;
  }
  ReservedKey ReservedKeyOf(const Block& block, ProcessId process) const {
    const auto of = [&](std::size_t facet) { return groupings_[facet].Of(block, process, state().dictionary()); };
    return {of(kOperator), of(kModule), of(kLine), static_cast<Group>(PlaceOf(block))};
  }
  void NoteSegment(const SegmentEvent& event);
  void AddReserved(const ReservedBook& book, HeldDevice& held) const;
  void Take(DeviceId id, const Device& device, const Instant& instant);
  HeldPart PlacedPart(const Key& key) const;
  HeldPart PartOf(const Key& key) const;
  std::string LabelOf(std::size_t facet, const Key& key) const {
    const Group group = key.first[facet];
    const std::string label = groupings_[facet].Label(group, capture(), state().dictionary());
    const bool says = key.second && group != kBeforeGroup && !NeedsCategories(groupings_[facet].by());
    return says ? absl::StrCat(label, " ", kBeforeLabel) : label;
  }

  const std::vector<Grouping>& groupings_;  // by facet
  const Instants& instants_;
  const bool whole_;
  std::map<DeviceId, absl::flat_hash_map<std::uint64_t, Live>> blocks_;
  std::map<DeviceId, Allocation> last_;
  std::map<DeviceId, ReservedBook> reserved_;
  std::map<DeviceId, std::size_t> done_;  // of those taken, which of the result
  std::set<ModuleId> modules_;
  absl::flat_hash_map<std::tuple<Group, NameId, ModuleId>, std::uint64_t> seen_;  // bytes allocated
};

// Of a part with all but its category.
HeldPart HeldPass::PlacedPart(const Key& key) const {
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

HeldPart HeldPass::PartOf(const Key& key) const {
  HeldPart part = PlacedPart(key);
  part.category = LabelOf(kCategory, key);
  part.is_of_library = IsOfLibrary(groupings_[kCategory].CategoryOfGroup(key.first[kCategory]));
  if (groupings_.size() > kOther) part.other = LabelOf(kOther, key);
  return part;
}

void HeldPass::NoteSegment(const SegmentEvent& event) {
  const Block& segment = *event.segment;
  const bool shrinks = event.action == SegmentAction::kFree || event.action == SegmentAction::kUnmap;
  ReservedBook& book = reserved_[segment.device];
  if (event.grows()) book.Grow(segment, ReservedKeyOf(segment, event.process));
  if (shrinks) book.Shrink(segment.address, segment.bytes);
  if (in_window()) book.NoteReserved(state().memory(segment.device).reserved().all);
}

void HeldPass::AddReserved(const ReservedBook& book, HeldDevice& held) const {
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

void HeldPass::Take(DeviceId id, const Device& device, const Instant& instant) {
  done_[id] = result.devices.size();
  HeldDevice held;
  held.name = ToString(state().dictionary().device(id));
  held.process = device.process;
  held.ns = instant.ns;
  held.bytes = device.live;
  absl::flat_hash_map<Key, HeldPart> parts;
  for (const auto& [address, live] : blocks_[id]) {
    const auto [found, is_new] = parts.try_emplace(live.key);
    if (is_new) found->second = PartOf(live.key);
    found->second.bytes += live.bytes;
    found->second.blocks += 1;
    held.blocks += 1;
  }
  for (auto& [key, part] : parts) held.parts.push_back(std::move(part));
  const Allocation& last = last_[id];
  if (last.allocated) held.phase = last.phase;
  if (last.allocated && last.module.valid()) held.module = state().dictionary().module(last.module).place();
  blocks_[id].clear();
  result.devices.push_back(std::move(held));
}

absl::StatusOr<std::vector<Grouping>> FacetsOf(const Capture& capture, const HeldOptions& options) {
  std::vector<Grouping> groupings;
  for (const GroupBy by : kFacetBy) {
    absl::StatusOr<Grouping> grouping = Grouping::Make(capture, by, options);
    if (!grouping.ok()) return grouping.status();
    groupings.push_back(*std::move(grouping));
  }
  if (options.other && NeedsCategories(*options.other))
    groupings.push_back(Grouping::Of(*options.other, groupings[kCategory].categories()));
  if (options.other && !NeedsCategories(*options.other)) {
    absl::StatusOr<Grouping> grouping = Grouping::Make(capture, *options.other, options);
    if (!grouping.ok()) return grouping.status();
    groupings.push_back(*std::move(grouping));
  }
  if (!groupings[kCategory].categories().rules.Any(IsOfLibrary)) return groupings;
  absl::StatusOr<LibraryWorkspaces> workspaces = FindLibraryWorkspaces(capture, ReplayOptionsFor(options, true, false));
  if (!workspaces.ok()) return workspaces.status();
  for (Grouping& grouping : groupings) {
    if (Grouping::TellsWorkspaces(grouping.by())) grouping.SetApart(*workspaces);
  }
  return groupings;
}

}  // namespace

absl::StatusOr<Held> AnalyzeHeld(const Capture& capture, const HeldOptions& options) {
  const absl::StatusOr<Instants> instants = FindInstants(capture, options, options.at);
  if (!instants.ok()) return instants.status();
  const absl::StatusOr<std::vector<Grouping>> groupings = FacetsOf(capture, options);
  if (!groupings.ok()) return groupings.status();
  HeldPass pass(capture, options, *groupings, *instants);
  ReplayOptions replay = ReplayOptionsFor(options, false, false);
  replay.modules = true;
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  Held held = std::move(pass.result);
  held.report = *std::move(report);
  return held;
}

}  // namespace memoir
