// The state that an EvidencePass stores for each live block. In the comments, "it" is this block.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCK_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCK_H_

#include <cstddef>
#include <cstdint>

#include "tools/analyze/categories/allocation_places.h"
#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/freed_block_rules.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/categories/second_copies.h"
#include "tools/model/event/event.h"

namespace memoir {

inline constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};

// The position of an open range. SharedEvidence::IsOpen() tests later whether the range is still open.
struct RangePosition {
  std::int32_t depth = -1;  // -1: no range
  std::uint64_t call = 0;
};

inline RangePosition RangeAt(const RangeStack& stack, std::int32_t depth) {
  if (depth < 0 || static_cast<std::size_t>(depth) >= stack.size()) return {};
  return {depth, stack[static_cast<std::size_t>(depth)].call};
}

struct Judgement {
  RuleNumber rule = kNotJudged;
  bool expected = false;  // `rule` is the rule of an earlier block of the same place
};

struct WatchedBlock {
  Evidence evidence;
  std::uint64_t ordinal = kNoOrdinal;
  std::uint64_t place = AllocationPlaces::kNowhere;
  ThreadId thread;
  std::uint64_t bytes = 0;
  SecondCopies::Layouts layouts;  // layouts of its first and of its newest tensor
  // The operator that computed it, if the operator may make a node: its sequence number, and its OpenRange::call.
  AutogradGraphBook::Step computed_by = AutogradGraphBook::kNoStep;
  std::uint64_t computed_call = 0;
  // The outermost operator, the innermost autograd node and the innermost optimizer step that were open at its
  // allocation.
  RangePosition operation, node, step;
  bool filled = false;                                     // its operator fills or copies (RangeTraits::fills)
  bool inner = false;                                      // allocated by a module other than the outermost module
  bool blank = false;                                      // nothing has been written to it
  AutogradGraphBook::BlockRef gradient{0, kNoOrdinal};     // for a leaf: its newest known gradient
  AutogradGraphBook::BlockRef gradient_of{0, kNoOrdinal};  // for a gradient: its leaf
  // For a blank block: the sum of the elements of those views that have as many elements as a leaf.
  std::uint64_t cut_elements = 0;
  std::uint64_t module_call = 0;           // innermost module call that made it; 0: no module call
  std::uint64_t module_calls_before = 0;   // number of module calls before it was made
  std::uint64_t model_call = 0;            // call of the outermost module that made or wrote it; 0: no call
  ModuleId model;                          // that outermost module
  std::uint64_t read_call = 0;             // the newest other call of an outermost module that read it
  std::uint64_t passes_before = 0;         // number of backward passes that began in the process before it was made
  std::uint64_t calls_before = 0;          // number of calls of outermost modules before it was made
  std::uint64_t copied_from = kNoOrdinal;  // for a copy: ordinal and slot of its source
  std::uint32_t copied_slot = 0;
  std::uint64_t summed_pass = 0;  // for a leaf: number of the newest backward pass that adds several gradients for it
  // The judgement of the newest JudgeLive() (live_block_judge.h). Unset again when the block is used.
  Judgement live_judgement;

  void NoteLayout(LayoutId layout) {
    if (!layout.valid()) return;
    if (!layouts[0].valid()) layouts[0] = layout;
    layouts[1] = layout;
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCK_H_
