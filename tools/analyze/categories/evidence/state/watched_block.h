// The state that an EvidencePass stores for each live block, and for each thread.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCK_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCK_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/allocation_places.h"
#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/evidence/state/gradient_wants.h"
#include "tools/analyze/categories/operator_saves.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/categories/second_copies.h"

namespace memoir {

inline constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};
inline constexpr RuleNumber kNotJudged = 0xff;

// A range that was open at some time; IsOpen() tests later whether it still is.
struct RangePosition {
  std::int32_t depth = -1;  // -1: no range
  std::uint64_t call = 0;
};

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
  AutogradGraphBook::Step computed_by = AutogradGraphBook::kNoStep;
  std::uint64_t computed_call = 0;
  // The outermost operator, the innermost autograd node and the innermost optimizer step that were open at its
  // allocation.
  RangePosition operation, node, step;
  bool filled = false;                                     // allocated by an operator that fills or copies
  bool inner = false;                                      // allocated by a module other than the outermost module
  bool blank = false;                                      // nothing has been written to it
  AutogradGraphBook::BlockRef gradient{0, kNoOrdinal};     // for a leaf: its newest known gradient
  AutogradGraphBook::BlockRef gradient_of{0, kNoOrdinal};  // for a gradient: its leaf
  // For a blank block: the sum of the elements of those views that have as many elements as a leaf.
  std::uint64_t cut_elements = 0;
  std::uint64_t module_call = 0;           // innermost module call that made it; 0: none
  std::uint64_t module_calls_before = 0;   // number of module calls of the process before it was made
  std::uint64_t model_call = 0;            // call of the outermost module that made or wrote it; 0: none
  ModuleId model;                          // that outermost module
  std::uint64_t read_call = 0;             // the newest other call of an outermost module that read it
  std::uint64_t passes_before = 0;         // number of backward passes that began in the process before it was made
  std::uint64_t calls_before = 0;          // number of calls of outermost modules before it was made
  std::uint64_t copied_from = kNoOrdinal;  // for a copy: ordinal and slot of its source
  std::uint32_t copied_slot = 0;
  std::uint64_t summed_pass = 0;  // for a leaf: number of the pass that adds several gradients of it
  // The judgement of the newest JudgeLive() (live_block_judge.cc). Unset again when the block is used.
  Judgement live_judgement;
};

// A leaf whose gradient the running node computes. `other`: another block of the same size that the node's forward
// operator received.
struct OwedGradient {
  std::uint64_t bytes = 0;
  AutogradGraphBook::BlockRef leaf, other{0, kNoOrdinal};
};

// A running operator with an autograd sequence number.
struct NumberedOperator {
  std::uint32_t depth = 0;
  std::uint64_t call = 0;
  AutogradGraphBook::Step step;
  GradientWant wants = GradientWant::kMaybe;  // whether any of its arguments requires a gradient
  const OperatorSaves* saves = nullptr;
  // Only if `saves` is nullptr: the arguments that no inner operator has received so far.
  std::vector<AutogradGraphBook::BlockRef> given{};
};

struct ThreadFacts {
  std::vector<std::uint64_t> module_calls;  // calls of modules that are open, outermost first, by running number
  std::uint64_t model_call = 0;             // open call of an outermost module; 0: none
  ModuleId model;                           // the module of model_call
  bool derived = false;                     // Derives() is true for an argument of the outermost operator
  bool fills = false;                       // the outermost operator fills or copies
  // The outermost operator fills a new tensor, and its first argument is a leaf that requires a gradient (zeros_like).
  bool like_leaf = false;
  RangePosition node;  // the newest autograd node
  std::vector<OwedGradient> owed;
  std::vector<std::uint64_t> given;        // ordinals of the arguments of the outermost operator in the node
  std::vector<NumberedOperator> numbered;  // outermost first
  // Number of elements of the blank block of which the running operator makes a view. 0: no such operator runs.
  std::uint64_t uncut_elements = 0;
  AutogradGraphBook::Step newest =
      AutogradGraphBook::kNoStep;  // newest sequence number of an operator, and this operator
  RangePosition newest_operator;
  bool newest_is_sure = false;  // newest_operator certainly makes a node
  RangePosition copy;           // the operator that copies, and the source of its copy
  std::uint64_t copy_of = kNoOrdinal;
  std::uint32_t copy_slot = 0;
  bool copies_parameter = false;
  // The module or optimizer of the newest HoldsEvent, and the numbers of its parameters and buffers so far.
  bool holder_is_module = false;
  ModuleId holder;
  std::uint32_t parameters = 0, buffers = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_WATCHED_BLOCK_H_
