// The part of the evidence that copies and views give: what a block is a copy of, and what it is cut into.
#include <utility>

#include "tools/analyze/categories/evidence_pass.h"

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
  const Watched* from = At(event.tensors[0]);
  facts.copy = RangeAt(*event.stack, static_cast<std::int32_t>(event.range->depth));
  facts.copy_of = from == nullptr ? kNoOrdinal : from->ordinal;
  facts.copy_slot = from == nullptr ? 0 : SlotOf(*from);
  facts.copies_parameter = from != nullptr && from->evidence.IsParameter();
}

bool EvidencePass::CopiesParameter(const Watched& copy) const {
  constexpr int kMostCopies = 16;  // of copies
  const Watched* from = &copy;
  for (int i = 0; i < kMostCopies && from->copied_from != kNoOrdinal; ++i) {
    const std::uint64_t ordinal = from->copied_from;
    if (rules_.Of(ordinal) != kNotJudged) return Rules()[rules_.Of(ordinal)].kept == Category::kParameter;
    if (from->copied_slot >= watched_.size() || watched_[from->copied_slot].ordinal != ordinal) return false;
    from = &watched_[from->copied_slot];
    if (IsLikelyParameter(from->evidence)) return true;
  }
  return false;
}

// aten::copy_. FSDP copies where it has nothing to gather or to reduce: one rank, or CPU offload.
void EvidencePass::NoteCopyOver(const RangeBeginEvent& event) {
  if (event.tensors.size() < 2) return;
  Watched* to = At(event.tensors[0]);
  const Watched* from = At(event.tensors[1]);
  if (to == nullptr || from == nullptr || to == from || to->evidence.IsParameter()) return;
  if (to->evidence.Has(Sign::kParameterGradient)) return;
  if (from->evidence.Has(Sign::kScattered)) return to->evidence.Note(Sign::kScattered);
  const OpenRange& range = *event.range;
  const bool parameter = IsLikelyParameter(from->evidence) || from->evidence.Has(Sign::kGathered) ||
                         (from->copied_from != kNoOrdinal && CopiesParameter(*from));
  if (!parameter) return;
  if (range.user_name.valid() && marks_.Of(range.user_name, state_->dictionary()).shards)
    return to->evidence.Note(Sign::kGathered);
  const bool by_program = range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (!by_program || range.phase != Phase::kOther || to->copied_from != kNoOrdinal) return;
  to->copied_from = from->ordinal;
  to->copied_slot = SlotOf(*from);
}

void EvidencePass::NoteLeaf(const Tensor& leaf, Watched& watched) {
  watched.evidence.Note(Sign::kWantsGradient);
  if (leaf.layout.valid()) leaf_elements_.insert(Elements(state_->dictionary().layout(leaf.layout)));
}

// A bucket of DDP's is empty memory of which it makes a view for each gradient.
void EvidencePass::NoteCut(const RangeBeginEvent& event) {
  const Watched* of = At(event.tensors[0]);
  const bool cuts = of != nullptr && of->blank && event.range->innermost_backward < 0;
  FactsOf(event.thread).uncut_elements =
      cuts ? Elements(state_->dictionary().layout(event.tensors[0].layout)) : std::uint64_t{0};
}

void EvidencePass::NoteCutResult(const RangeEndEvent& event) {
  ThreadFacts& facts = FactsOf(event.thread);
  const std::uint64_t all = std::exchange(facts.uncut_elements, 0);
  if (all == 0 || event.tensors.empty()) return;
  Watched* of = At(event.tensors[0]);
  const std::uint64_t part = Elements(state_->dictionary().layout(event.tensors[0].layout));
  if (of == nullptr || !leaf_elements_.contains(part)) return;
  of->cut_elements += part;
  if (of->cut_elements == all) of->evidence.Note(Sign::kCutLikeLeaves);
}

}  // namespace memoir
