#include "tools/analyze/categories/evidence/copy_evidence.h"

#include <utility>

#include "tools/analyze/categories/category.h"
#include "tools/analyze/categories/rules.h"

namespace memoir {
namespace {

std::uint64_t Elements(const Layout& layout) {
  std::uint64_t elements = layout.shape_unknown ? 0 : 1;
  for (const std::int64_t size : layout.sizes) elements *= static_cast<std::uint64_t>(size);
  return elements;
}

}  // namespace

void CopyEvidence::NoteCopy(const RangeBeginEvent& event) {
  RunningCopy& running = threads_.Of(event.thread);
  const WatchedBlock* from = shared_->blocks.Find(event.tensors[0]);
  running.copy = RangeAt(*event.stack, static_cast<std::int32_t>(event.range->depth));
  running.copy_of = from == nullptr ? kNoOrdinal : from->ordinal;
  running.copy_slot = from == nullptr ? 0 : shared_->blocks.SlotOf(*from);
  running.copies_parameter = from != nullptr && from->evidence.IsParameter();
}

void CopyEvidence::NoteSource(WatchedBlock& watched) {
  const RunningCopy& running = threads_.Of(watched.thread);
  if (!shared_->IsOpen(watched.thread, running.copy)) return;
  watched.copied_from = running.copy_of;
  watched.copied_slot = running.copy_slot;
  if (running.copies_parameter) watched.evidence.Note(Sign::kCastParameter);
}

// If a copy has become a parameter, its source also counts as a parameter. The source may already be freed.
void CopyEvidence::NoteMoved(std::uint64_t ordinal) {
  const RuleNumber copied = shared_->rules.RuleOf(ordinal);
  if (copied == kNotJudged) {
    moved_.insert(ordinal);
  } else if (Rules()[copied].kept == Category::kInput) {
    Evidence moved;
    moved.Note(Sign::kMovedParameter);
    shared_->rules.Set(ordinal, RuleFor(moved));
  }
}

bool CopyEvidence::CopiesParameter(const WatchedBlock& copy) const {
  constexpr int kMostCopies = 16;  // longest chain of copies that is followed
  const WatchedBlock* from = &copy;
  for (int i = 0; i < kMostCopies && from->copied_from != kNoOrdinal; ++i) {
    const std::uint64_t ordinal = from->copied_from;
    const RuleNumber rule = shared_->rules.RuleOf(ordinal);
    if (rule != kNotJudged) return Rules()[rule].kept == Category::kParameter;
    if (!shared_->blocks.IsLive({from->copied_slot, ordinal})) return false;
    from = &shared_->blocks.At(from->copied_slot);
    if (IsLikelyParameter(from->evidence)) return true;
  }
  return false;
}

// Handles aten::copy_. If FSDP has nothing to gather or reduce (one rank, or CPU offload), FSDP copies instead.
void CopyEvidence::NoteCopyOver(const RangeBeginEvent& event) {
  if (event.tensors.size() < 2) return;
  WatchedBlock* to = shared_->blocks.Find(event.tensors[0]);
  const WatchedBlock* from = shared_->blocks.Find(event.tensors[1]);
  if (to == nullptr || from == nullptr || to == from || to->evidence.IsParameter()) return;
  if (to->evidence.Has(Sign::kParameterGradient)) return;
  if (from->evidence.Has(Sign::kScattered)) return to->evidence.Note(Sign::kScattered);
  const OpenRange& range = *event.range;
  const bool parameter = IsLikelyParameter(from->evidence) || from->evidence.Has(Sign::kGathered) ||
                         (from->copied_from != kNoOrdinal && CopiesParameter(*from));
  if (!parameter) return;
  if (range.user_name.valid() && shared_->FindTraits(range.user_name).shards) return to->evidence.Note(Sign::kGathered);
  const bool by_program = range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (!by_program || range.phase != Phase::kOther || to->copied_from != kNoOrdinal) return;
  to->copied_from = from->ordinal;
  to->copied_slot = shared_->blocks.SlotOf(*from);
}

void CopyEvidence::NoteLeaf(const Tensor& leaf, WatchedBlock& watched) {
  watched.evidence.Note(Sign::kWantsGradient);
  if (leaf.layout.valid()) leaf_elements_.insert(Elements(shared_->dictionary().layout(leaf.layout)));
}

// Notes a view that may be cut from a bucket of DDP. DDP allocates a bucket without writing to it, and makes a view of
// the bucket for each gradient.
void CopyEvidence::NoteCut(const RangeBeginEvent& event) {
  const WatchedBlock* of = shared_->blocks.Find(event.tensors[0]);
  const bool cuts = of != nullptr && of->blank && event.range->innermost_backward < 0;
  threads_.Of(event.thread).uncut_elements =
      cuts ? Elements(shared_->dictionary().layout(event.tensors[0].layout)) : std::uint64_t{0};
}

void CopyEvidence::NoteCutResult(const RangeEndEvent& event) {
  const std::uint64_t all = std::exchange(threads_.Of(event.thread).uncut_elements, 0);
  if (all == 0 || event.tensors.empty()) return;
  WatchedBlock* of = shared_->blocks.Find(event.tensors[0]);
  const std::uint64_t part = Elements(shared_->dictionary().layout(event.tensors[0].layout));
  if (of == nullptr || !leaf_elements_.contains(part)) return;
  of->cut_elements += part;
  if (of->cut_elements == all) of->evidence.Note(Sign::kCutLikeLeaves);
}

// Notes an input that may be part of a second copy. A block that was filled with one value is not a second copy,
// whatever its shape: it is an optimizer's state, or an average.
void CopyEvidence::NoteInput(const Block& block, const WatchedBlock& watched) {
  const bool of_value = watched.filled && watched.copied_from == kNoOrdinal;
  if (!of_value) inputs_.Note(block, watched.layouts, watched.module_calls_before);
}

void CopyEvidence::EndProcess(ProcessId process, absl::Span<const Parameter> parameters) {
  threads_.clear();
  leaf_elements_.clear();
  moved_.clear();
  FindSecondCopies(process, parameters);
}

void CopyEvidence::FindSecondCopies(ProcessId process, absl::Span<const Parameter> parameters) {
  Evidence evidence;
  evidence.Note(Sign::kSecondCopy);
  for (const std::uint64_t ordinal : inputs_.EndProcess(process, parameters))
    shared_->rules.Set(ordinal, RuleFor(evidence));
}

}  // namespace memoir
