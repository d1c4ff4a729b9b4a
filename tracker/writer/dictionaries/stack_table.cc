#include "tracker/writer/dictionaries/stack_table.h"

#include <algorithm>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

constexpr std::size_t kFirstSlots = 1024;

std::size_t Mix(std::uint32_t parent, const StackFrame& frame) {
  std::uint64_t mixed = (std::uint64_t{parent} << 32 | frame.code) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 29) ^ frame.line) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

}  // namespace

StackTable::StackTable(MarkUsed mark_used, std::size_t max_stacks)
    : mark_used_(std::move(mark_used)), max_stacks_(max_stacks), slots_(kFirstSlots, kNoRow) {}

// Returns the row of a stack. The ids of the rows increase. They have no gaps until stacks are forgotten for the first
// time, so the first guess is usually right.
std::uint32_t StackTable::RowOf(std::uint32_t stack) const {
  if (stack == 0 || rows_.empty() || stack < rows_.front().id) return kNoRow;
  const std::size_t guess = stack - rows_.front().id;
  if (guess < rows_.size() && rows_[guess].id == stack) return static_cast<std::uint32_t>(guess);
  const auto found = std::ranges::lower_bound(rows_, stack, {}, &Row::id);
  return found == rows_.end() || found->id != stack ? kNoRow : static_cast<std::uint32_t>(found - rows_.begin());
}

std::size_t StackTable::Slot(std::uint32_t parent, const StackFrame& frame) const {
  std::size_t at = Mix(parent, frame) & (slots_.size() - 1);
  for (; slots_[at] != kNoRow; at = (at + 1) & (slots_.size() - 1)) {
    const Row& row = rows_[slots_[at]];
    if (row.parent == parent && row.frame.code == frame.code && row.frame.line == frame.line) break;
  }
  return at;
}

std::uint32_t StackTable::AddChild(std::uint32_t parent, const StackFrame& frame) {
  const std::uint32_t depth = parent == kNoRow ? 0 : rows_[parent].depth;
  if (depth == kMaxStackDepth) return parent;
  const std::size_t at = Slot(parent, frame);
  if (slots_[at] != kNoRow) return slots_[at];
  if (rows_.size() == max_stacks_) return parent;  // the table is full
  const auto row = static_cast<std::uint32_t>(rows_.size());
  slots_[at] = row;
  rows_.push_back({++last_id_, parent, frame, 0, depth + 1});
  if (rows_.size() * 2 > slots_.size()) FillSlots(slots_.size() * 2);
  return row;
}

std::uint32_t StackTable::Replace(std::uint32_t stack, std::size_t kept, std::span<const StackFrame> frames) {
  MakeRoom(frames.size());
  std::uint32_t row = kept == 0 ? kNoRow : RowOf(stack);
  if (kept != 0 && (row == kNoRow || rows_[row].depth < kept)) return 0;
  while (row != kNoRow && rows_[row].depth > kept) row = rows_[row].parent;
  for (const StackFrame& frame : frames) row = AddChild(row, frame);
  return row == kNoRow ? 0 : rows_[row].id;
}

bool StackTable::Define(std::uint32_t stack, std::uint32_t part, Names& names, std::string* payload) {
  const std::uint32_t row = RowOf(stack);
  if (row == kNoRow) return stack == 0;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t at = row; at != kNoRow && rows_[at].part != part; at = rows_[at].parent) missing.push_back(at);
  for (; !missing.empty(); missing.pop_back()) {
    Row& defined = rows_[missing.back()];
    defined.part = part;
    Names::Name* code = names.FindOperator(defined.frame.code);
    if (code != nullptr) names.Define(code, part, payload);
    protozero::pbf_writer message(*payload);
    protozero::pbf_writer definition(message, field::payload::kStacks);
    definition.add_uint32(field::stack_def::kId, defined.id);
    if (defined.parent != kNoRow) definition.add_uint32(field::stack_def::kParent, rows_[defined.parent].id);
    if (code != nullptr) definition.add_uint32(field::stack_def::kCode, code->id);
    if (defined.frame.line != 0) definition.add_uint32(field::stack_def::kLine, defined.frame.line);
  }
  return true;
}

void StackTable::MakeRoom(std::size_t rows) {
  if (rows_.size() + rows <= max_stacks_) return;
  std::vector<bool> used = UsedBy(Users::kThreadsAndBlocks);
  // If threads, blocks and step patterns use too many stacks, keeps only the stacks of threads, because the next
  // records of the threads refer to them.
  if (used.empty()) used = UsedBy(Users::kThreads);
  used.resize(rows_.size());
  Keep(used);
}

// Returns, for each row, whether it is used. Empty if more than half of the table is used. The used rows would leave
// too little room, and this expensive function would soon be called again.
std::vector<bool> StackTable::UsedBy(Users users) const {
  std::vector<bool> used(rows_.size());
  std::size_t count = 0;
  mark_used_(users, [&](std::uint32_t id) {
    for (std::uint32_t row = RowOf(id); row != kNoRow && !used[row]; row = rows_[row].parent) {
      used[row] = true;
      ++count;
    }
  });
  return count > max_stacks_ / 2 ? std::vector<bool>() : used;
}

void StackTable::Keep(const std::vector<bool>& used) {
  std::vector<std::uint32_t> moved(rows_.size(), kNoRow);
  std::uint32_t kept = 0;
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    if (!used[row]) continue;
    Row& to = rows_[kept];
    to = rows_[row];
    if (to.parent != kNoRow) to.parent = moved[to.parent];  // the parent is also used, and its row precedes this row
    moved[row] = kept++;
  }
  rows_.resize(kept);
  FillSlots(slots_.size());
}

void StackTable::FillSlots(std::size_t slots) {
  slots_.assign(slots, kNoRow);
  for (std::uint32_t row = 0; row < rows_.size(); ++row) slots_[Slot(rows_[row].parent, rows_[row].frame)] = row;
}

}  // namespace memoir
