// What an EvidencePass keeps of a block while it lives, and of a thread.
#ifndef TOOLS_ANALYZE_CATEGORIES_WATCHED_BLOCK_H_
#define TOOLS_ANALYZE_CATEGORIES_WATCHED_BLOCK_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/gradient_wants.h"
#include "tools/analyze/categories/graph_book.h"
#include "tools/analyze/categories/place_book.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/categories/saved_tensors.h"

namespace memoir {

inline constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};
inline constexpr RuleNumber kNotJudged = 0xff;

// A range that was open, so that it can be told later whether it still is.
struct OpenAt {
  std::int32_t depth = -1;  // -1: none
  std::uint64_t call = 0;
};

struct Judgement {
  RuleNumber rule = kNotJudged;
  bool expected = false;  // as a block of the same place became before
};

struct Watched {
  Evidence evidence;
  std::uint64_t ordinal = kNoOrdinal;
  std::uint64_t place = PlaceBook::kNowhere;
  ThreadId thread;
  std::uint64_t bytes = 0;
  GraphBook::Step computed_by = GraphBook::kNoStep;
  std::uint64_t computed_call = 0;
  OpenAt operation, node, step;                    // the outermost operator, ...
  bool filled = false;                             // by an operator that fills or copies, and computes nothing
  bool inner = false;                              // made by another module than the outermost
  bool blank = false;                              // nothing has been written to it
  GraphBook::BlockRef gradient{0, kNoOrdinal};     // of a leaf: that it was last seen to have
  GraphBook::BlockRef gradient_of{0, kNoOrdinal};  // the leaf
  std::uint64_t cut_elements = 0;                  // of a blank one: in views as large as leaves
  std::uint64_t module_call = 0;                   // the innermost that made it; 0: none
  std::uint64_t model_call = 0;                    // 0: made in none
  ModuleId model;                                  // the outermost module that made it, or wrote it
  std::uint64_t read_call = 0;                     // a later call that read it, of another model
  std::uint64_t passes_before = 0;                 // backward passes that had begun in the process
  std::uint64_t copied_from = kNoOrdinal;          // the block that it is a copy of, and its slot
  std::uint32_t copied_slot = 0;
  std::uint64_t summed_pass = 0;  // of a leaf: the backward pass that adds up several gradients of it
  Judgement at_cut;               // what it was when less began to be known, if nothing has used it since
};

// A leaf of which a node computes a gradient. `other`: something of the same size that the operator was given.
struct Owed {
  std::uint64_t bytes = 0;
  GraphBook::BlockRef leaf, other{0, kNoOrdinal};
};

// An operator that autograd has a number for, and that runs.
struct Numbered {
  std::uint32_t depth = 0;
  std::uint64_t call = 0;
  GraphBook::Step step;
  Wants wants = Wants::kMaybe;  // what it was given
  const SavedTensors* saves = nullptr;
  std::vector<GraphBook::BlockRef> given{};  // where that is not known, what no operator inside was given
};

struct ThreadFacts {
  std::vector<std::uint64_t> module_calls;  // that are open, outermost first: running numbers
  std::uint64_t model_call = 0;             // number of the call of an outermost module that is open; 0: none
  ModuleId model;                           // that module
  bool derived = false;                     // the outermost operator was given what parameters or modules gave
  bool fills = false;                       // the outermost operator does so
  bool like_leaf = false;                   // after the pattern of a leaf that wants a gradient
  OpenAt node;                              // of autograd
  std::vector<Owed> owed;
  std::vector<std::uint64_t> given;             // to the outermost operator in it: ordinals
  std::vector<Numbered> numbered;               // outermost first
  std::uint64_t uncut_elements = 0;             // of what the operator cuts a view of; 0: it cuts none
  GraphBook::Step newest = GraphBook::kNoStep;  // the last number that an operator had, and that operator
  OpenAt newest_operator;
  bool newest_is_sure = false;  // to make a node
  OpenAt copy;                  // the operator that copies
  std::uint64_t copy_of = kNoOrdinal;
  std::uint32_t copy_slot = 0;
  bool copies_parameter = false;
  // Who the last holds event was about, and how many of its parameters and buffers were named.
  bool holder_is_module = false;
  ModuleId holder;
  std::uint32_t parameters = 0, buffers = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_WATCHED_BLOCK_H_
