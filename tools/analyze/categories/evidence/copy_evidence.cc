// Evidence from copies and views: the source of a copy, and the views of a block.
#include <utility>

#include "tools/analyze/categories/evidence/evidence_pass.h"

namespace memoir {
namespace {

std::uint64_t Elements(const Layout& layout) {
  std::uint64_t elements = layout.shape_unknown ? 0 : 1;
  for (const std::int64_t size : layout.sizes) elements *= static_cast<std::uint64_t>(size);
  return elements;
}

}  // namespace

void EvidencePass::NoteCopy(const RangeBeginEvent& event) {
  ThreadFacts& facts = FactsOf(event.thread);
  const WatchedBlock* from = FindWatched(event.tensors[0]);
  facts.copy = RangeAt(*event.stack, static_cast<std::int32_t>(event.range->depth));
  facts.copy_of = from == nullptr ? kNoOrdinal : from->ordinal;
  facts.copy_slot = from == nullptr ? 0 : SlotOf(*from);
  facts.copies_parameter = from != nullptr && from->evidence.IsParameter();
}

bool EvidencePass::CopiesParameter(const WatchedBlock& copy) const {
  constexpr int kMostCopies = 16;  // longest chain of copies that is followed
  const WatchedBlock* from = &copy;
  for (int i = 0; i < kMostCopies && from->copied_from != kNoOrdinal; ++i) {
    const std::uint64_t ordinal = from->copied_from;
    if (rules_.RuleOf(ordinal) != kNotJudged) return Rules()[rules_.RuleOf(ordinal)].kept == Category::kParameter;
    if (from->copied_slot >= watched_.size() || watched_[from->copied_slot].ordinal != ordinal) return false;
    from = &watched_[from->copied_slot];
    if (IsLikelyParameter(from->evidence)) return true;
  }
  return false;
}

// Handles aten::copy_. If FSDP has nothing to gather or reduce (one rank, or CPU offload), FSDP copies instead.
void EvidencePass::NoteCopyOver(const RangeBeginEvent& event) {
  if (event.tensors.size() < 2) return;
  WatchedBlock* to = FindWatched(event.tensors[0]);
  const WatchedBlock* from = FindWatched(event.tensors[1]);
  if (to == nullptr || from == nullptr || to == from || to->evidence.IsParameter()) return;
  if (to->evidence.Has(Sign::kParameterGradient)) return;
  if (from->evidence.Has(Sign::kScattered)) return to->evidence.Note(Sign::kScattered);
  const OpenRange& range = *event.range;
  const bool parameter = IsLikelyParameter(from->evidence) || from->evidence.Has(Sign::kGathered) ||
                         (from->copied_from != kNoOrdinal && CopiesParameter(*from));
  if (!parameter) return;
  if (range.user_name.valid() && traits_.FindTraits(range.user_name, state_->dictionary()).shards)
    return to->evidence.Note(Sign::kGathered);
  const bool by_program = range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (!by_program || range.phase != Phase::kOther || to->copied_from != kNoOrdinal) return;
  to->copied_from = from->ordinal;
  to->copied_slot = SlotOf(*from);
}

void EvidencePass::NoteLeaf(const Tensor& leaf, WatchedBlock& watched) {
  watched.evidence.Note(Sign::kWantsGradient);
  if (leaf.layout.valid()) leaf_elements_.insert(Elements(state_->dictionary().layout(leaf.layout)));
}

// Notes a view that may be cut from a bucket of DDP. DDP allocates a bucket without writing to it, and makes a view of
// the bucket for each gradient.
void EvidencePass::NoteCut(const RangeBeginEvent& event) {
  const WatchedBlock* of = FindWatched(event.tensors[0]);
  const bool cuts = of != nullptr && of->blank && event.range->innermost_backward < 0;
  FactsOf(event.thread).uncut_elements =
      cuts ? Elements(state_->dictionary().layout(event.tensors[0].layout)) : std::uint64_t{0};
}

void EvidencePass::NoteCutResult(const RangeEndEvent& event) {
  ThreadFacts& facts = FactsOf(event.thread);
  const std::uint64_t all = std::exchange(facts.uncut_elements, 0);
  if (all == 0 || event.tensors.empty()) return;
  WatchedBlock* of = FindWatched(event.tensors[0]);
  const std::uint64_t part = Elements(state_->dictionary().layout(event.tensors[0].layout));
  if (of == nullptr || !leaf_elements_.contains(part)) return;
  of->cut_elements += part;
  if (of->cut_elements == all) of->evidence.Note(Sign::kCutLikeLeaves);
}

void EvidencePass::NoteLayout(const Tensor& tensor, WatchedBlock& watched) {
  if (!tensor.layout.valid()) return;
  if (!watched.layouts[0].valid()) watched.layouts[0] = tensor.layout;
  watched.layouts[1] = tensor.layout;
}

// Notes an input that may be part of a second copy. A block that was filled with one value is not a second copy,
// whatever its shape: it is an optimizer's state, or an average.
void EvidencePass::NoteInput(const Block& block, const WatchedBlock& watched) {
  const bool of_value = watched.filled && watched.copied_from == kNoOrdinal;
  if (!forgets_ && !of_value) inputs_.Note(block, watched.layouts, watched.module_calls_before);
}

void EvidencePass::FindSecondCopies(ProcessId process) {
  Evidence evidence;
  evidence.Note(Sign::kSecondCopy);
  for (const std::uint64_t ordinal : inputs_.EndProcess(process, book_.parameters()))
    rules_.Set(ordinal, RuleFor(evidence));
}

}  // namespace memoir
