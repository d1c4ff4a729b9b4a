#include "simcuda/torch_values/memory/simulated_memory.h"

#include <dlfcn.h>

#include <algorithm>

namespace memoir {
namespace {

// The same struct as in simcuda/api/computed_values.h.
struct Answers {
  unsigned long long values[4];
  unsigned count, next;
};
struct Device {
  int (*is_known)(const void*, unsigned long long);
  int (*know)(void*, unsigned long long);
  void (*forget)(void*, unsigned long long);
  void (*deal)(void*, unsigned long long);
  unsigned long long (*begin_operator)();
  int (*end_operator)(unsigned long long);
  void (*answer)(const Answers*, Answers*);
  void (*count_unknown)(const char*);
  int (*takes_most)();
  int (*is_capturing)();
};
constinit Device device{};

template <typename Function>
bool Find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

}  // namespace

bool FindSimulatedDevice() {
  return Find("memoir_simulated_is_known", device.is_known) && Find("memoir_simulated_know", device.know) &&
         Find("memoir_simulated_forget", device.forget) && Find("memoir_simulated_deal", device.deal) &&
         Find("memoir_simulated_begin_operator", device.begin_operator) &&
         Find("memoir_simulated_end_operator", device.end_operator) && Find("memoir_simulated_answer", device.answer) &&
         Find("memoir_simulated_count_unknown", device.count_unknown) &&
         Find("memoir_simulated_takes_most", device.takes_most) &&
         Find("memoir_simulated_is_capturing", device.is_capturing);
}

bool IsKnown(const void* address, std::size_t bytes) { return device.is_known(address, bytes) != 0; }
bool MarkKnown(void* address, std::size_t bytes) { return device.know(address, bytes) != 0; }
void MarkUnknown(void* address, std::size_t bytes) { device.forget(address, bytes); }
void MarkAllocated(void* address, std::size_t bytes) { device.deal(address, bytes); }
void CountUnknownShape(const char* name) { device.count_unknown(name); }
bool TakesMost() { return device.takes_most() != 0; }
bool IsCapturing() { return device.is_capturing() != 0; }

OperatorGuard::OperatorGuard() : begun_(device.begin_operator()) {}

OperatorGuard::~OperatorGuard() {
  if (!ended_) device.end_operator(begun_);
}

bool OperatorGuard::End() {
  ended_ = true;
  return device.end_operator(begun_) != 0;
}

AnswerGuard::AnswerGuard(const std::uint64_t* values, std::size_t count) {
  Answers answers{}, before{};
  answers.count = static_cast<unsigned>(std::min<std::size_t>(count, 4));
  std::copy_n(values, answers.count, answers.values);
  device.answer(&answers, &before);
  std::copy_n(before.values, 4, before_values_);
  before_count_ = before.count;
  before_next_ = before.next;
}

AnswerGuard::~AnswerGuard() {
  Answers before{};
  std::copy_n(before_values_, 4, before.values);
  before.count = before_count_;
  before.next = before_next_;
  device.answer(&before, nullptr);
}

}  // namespace memoir
