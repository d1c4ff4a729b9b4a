#include "tracker/writer/state/threads.h"

#include "tracker/writer/events/capture_fields.h"

#include <cstring>

#include <protozero/pbf_writer.hpp>

namespace memoir {
namespace {

bool SameFacts(const ThreadView& a, const ThreadView& b) {
  return a.os_id == b.os_id && a.torch_id == b.torch_id && a.works_for == b.works_for &&
         std::memcmp(a.name, b.name, sizeof(a.name)) == 0;
}

}  // namespace

ThreadState& Threads::State(std::uint32_t thread) {
  ThreadState& state = states_[thread];
  state.thread = thread;
  state.modules.SetNumbersLeft(&numbers_left_);
  return state;
}

void Threads::CloseRanges() {
  for (auto& [thread, state] : states_) {
    state.ranges.SetDepth(0);
    state.modules.Clear();
  }
}

const ThreadState* Threads::FindByTorchId(std::uint64_t torch_id) {
  if (torch_id == 0) return nullptr;
  if (found_.first != torch_id) {
    for (const auto& [thread, state] : states_) {
      const auto facts = facts_.find(thread);
      // torch's number may be set after the thread's first record.
      if (facts == facts_.end() || facts->second.view.torch_id == 0) Refresh(thread);
      if (facts_[thread].view.torch_id == torch_id) found_ = {torch_id, thread};
    }
  }
  const auto state = states_.find(found_.second);
  return found_.first != torch_id || state == states_.end() ? nullptr : &state->second;
}

// NOLINTBEGIN(bugprone-return-const-ref-from-parameter): returns one of this object's states, never a temporary
const ThreadState& Threads::FindWorkingThread(const ThreadState& thread) const {
  constexpr int kMostRegions = 4;
  const ThreadState* working = &thread;
  for (int i = 0; i < kMostRegions && working->works_for != 0; ++i) {
    const auto owner = states_.find(working->works_for);
    if (owner == states_.end()) break;
    working = &owner->second;
  }
  return working->ranges.depth() == 0 ? thread : *working;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

bool Threads::Refresh(std::uint32_t thread) {
  ThreadView view{};
  if (!ring_.FindThread(thread, &view)) return true;
  Facts& facts = facts_[thread];
  if (!SameFacts(facts.view, view)) facts.part = 0;
  facts.view = view;
  if (const auto state = states_.find(thread); state != states_.end()) state->second.works_for = view.works_for;
  if (facts_.size() > states_.size() + kMaxEndedThreads) ForgetEnded();
  return view.retired;
}

void Threads::ForgetEnded() {
  std::erase_if(facts_, [this](const auto& entry) { return !states_.contains(entry.first); });
}

void Threads::Define(std::uint32_t thread, std::uint32_t part, std::string* payload) {
  const auto found = facts_.find(thread);
  if (found == facts_.end() || found->second.part == part) return;
  Facts& facts = found->second;
  facts.part = part;
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer definition(message, field::payload::kThreads);
  definition.add_uint32(field::thread_def::kId, thread);
  definition.add_uint64(field::thread_def::kOsId, facts.view.os_id);
  definition.add_uint64(field::thread_def::kTorchId, facts.view.torch_id);
  definition.add_string(field::thread_def::kName, facts.view.name, strnlen(facts.view.name, sizeof(facts.view.name)));
  if (facts.view.works_for != 0) definition.add_uint32(field::thread_def::kWorksFor, facts.view.works_for);
}

std::vector<std::uint32_t> Threads::FindEnded() {
  std::vector<std::uint32_t> ended;
  for (const auto& [thread, state] : states_) {
    if (state.run == nullptr && Refresh(thread)) ended.push_back(thread);
  }
  next_cleanup_size_ = (states_.size() - ended.size()) * 2 + 64;
  return ended;
}

void Threads::Drop(std::uint32_t thread) { states_.erase(thread); }

}  // namespace memoir
