#include "simcuda/torch_values/host/random_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace memoir {
namespace {

// Each state has 2.5 KiB. 512 states suffice for the draws that a program makes between saving and restoring a state.
constexpr std::size_t kMostStates = 512;

using Key = std::pair<std::uint64_t, std::uint64_t>;

struct HostState {
  at::mt19937 engine;
  std::optional<float> next_float;
  std::optional<double> next_double;
};

struct States {
  std::mutex mutex;
  std::map<Key, HostState> known;
  std::deque<Key> oldest_first;
};

// Never freed, because operators may run until the process ends.
States& All() {
  static States* const states = new States;
  return *states;
}

at::CPUGeneratorImpl* ThisThreads() {
  static thread_local at::Generator* const generator = new at::Generator(at::detail::createCPUGenerator(0));
  return generator->get<at::CPUGeneratorImpl>();
}

// Returns the seed for a position at which no draw on the host has ended. Such a position follows a draw of a large
// tensor, or comes from another process.
std::uint64_t Mixed(RandomPosition position) {
  std::uint64_t mixed = (position.seed ^ (position.offset * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  return mixed ^ (mixed >> 31);
}

}  // namespace

RandomPosition PositionOf(const at::Generator& generator, c10::Device device) {
  const at::Generator& of = generator.defined() ? generator : at::globalContext().defaultGenerator(device);
  return {of.current_seed(), of.get_offset()};
}

at::Generator HostGeneratorAt(RandomPosition position) {
  at::CPUGeneratorImpl* const host = ThisThreads();
  {
    const std::lock_guard lock(All().mutex);
    const auto found = All().known.find({position.seed, position.offset});
    if (position.offset != 0 && found != All().known.end()) {
      host->set_engine(found->second.engine);
      host->set_next_float_normal_sample(found->second.next_float);
      host->set_next_double_normal_sample(found->second.next_double);
      return at::Generator(c10::intrusive_ptr<at::CPUGeneratorImpl>::unsafe_reclaim_from_nonowning(host));
    }
  }
  host->set_current_seed(position.offset == 0 ? position.seed : Mixed(position));
  return at::Generator(c10::intrusive_ptr<at::CPUGeneratorImpl>::unsafe_reclaim_from_nonowning(host));
}

void KeepHostGenerator(const at::Generator& host, RandomPosition position) {
  auto* const from = host.get<at::CPUGeneratorImpl>();
  const Key key{position.seed, position.offset};
  const std::lock_guard lock(All().mutex);
  const HostState state{from->engine(), from->next_float_normal_sample(), from->next_double_normal_sample()};
  if (!All().known.insert_or_assign(key, state).second) return;
  All().oldest_first.push_back(key);
  if (All().oldest_first.size() <= kMostStates) return;
  All().known.erase(All().oldest_first.front());
  All().oldest_first.pop_front();
}

}  // namespace memoir
