#include "simcuda/api/computed_values.h"

#include <algorithm>

#include "simcuda/api/exported.h"
#include "simcuda/contents/copy_answers.h"
#include "simcuda/kernels/uncomputed_launches.h"
#include "simcuda/kernels/unknown_shapes.h"
#include "simcuda/machine/machine.h"
#include "simcuda/streams/graph_capture.h"

using memoir::simcuda::CopyAnswers;
using memoir::simcuda::TheMachine;

namespace {

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

SIMULATED int memoir_simulated_is_known(const void* address, unsigned long long bytes) {
  return TheMachine().contents().IsKnown(Address(address), bytes) ? 1 : 0;
}

SIMULATED int memoir_simulated_know(void* address, unsigned long long bytes) {
  auto& contents = TheMachine().contents();
  return contents.IsDeviceMemory(address) && contents.MarkKnown(Address(address), bytes) ? 1 : 0;
}

SIMULATED void memoir_simulated_forget(void* address, unsigned long long bytes) {
  auto& contents = TheMachine().contents();
  if (contents.IsDeviceMemory(address)) memoir::simcuda::MarkWrittenAsUnknown(Address(address), bytes);
}

SIMULATED void memoir_simulated_deal(void* address, unsigned long long bytes) {
  if (!TheMachine().contents().IsDeviceMemory(address)) return;
  TheMachine().allocator_blocks().Add(Address(address), bytes);
  memoir::simcuda::MarkWrittenAsUnknown(Address(address), bytes);
}

SIMULATED unsigned long long memoir_simulated_begin_operator() { return memoir::simcuda::BeginOperator(); }

SIMULATED int memoir_simulated_end_operator(unsigned long long begun) {
  return memoir::simcuda::EndOperator(begun) ? 1 : 0;
}

SIMULATED void memoir_simulated_answer(const memoir_simulated_answers* answers, memoir_simulated_answers* before) {
  CopyAnswers next{};
  next.count = std::min<unsigned>(answers->count, memoir::simcuda::kMostAnswers);
  next.next = next.count == 0 ? 0 : std::min(answers->next, next.count - 1);
  std::copy_n(answers->values, memoir::simcuda::kMostAnswers, next.values);
  const CopyAnswers had = ExchangeAnswers(next);
  if (before == nullptr) return;
  std::copy_n(had.values, memoir::simcuda::kMostAnswers, before->values);
  before->count = had.count;
  before->next = had.next;
}

SIMULATED void memoir_simulated_count_unknown(const char* name) { memoir::simcuda::CountUnknownShape(name); }

SIMULATED int memoir_simulated_takes_most() { return TheMachine().configuration().takes_most ? 1 : 0; }

SIMULATED int memoir_simulated_is_capturing() { return memoir::simcuda::IsAnyCapturing() ? 1 : 0; }
