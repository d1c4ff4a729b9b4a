#include "simcuda/api/simulation_queries.h"

#include <map>
#include <mutex>

#include "simcuda/api/exported.h"
#include "simcuda/configuration/visible_devices.h"
#include "simcuda/kernels/counts.h"
#include "simcuda/kernels/kernels.h"
#include "simcuda/machine/library_charges.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"

using memoir::simcuda::TheMachine;

namespace {

struct Splits {
  memoir::simcuda::Mutex mutex;
  std::map<int, int> ranks;  // by colour
};

constinit memoir::simcuda::LazyObject<Splits> splits;

Splits& TheSplits() { return splits.Get(); }

}  // namespace

SIMULATED const char* memoir_simulated_device() { return TheMachine().configuration().description.c_str(); }

SIMULATED unsigned long long memoir_simulated_used(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().device(device).Info().used : 0;
}

SIMULATED unsigned long long memoir_simulated_total(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().device(device).Info().total : 0;
}

SIMULATED unsigned long long memoir_simulated_others(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().device(device).Info().others : 0;
}

SIMULATED unsigned long long memoir_simulated_unowned(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().profile().unowned : 0;
}

SIMULATED int memoir_simulated_card(int device) { return memoir::simcuda::PhysicalDevice(device); }

SIMULATED void memoir_simulated_observe(void (*observer)(int, const char*, unsigned long long, unsigned long long)) {
  memoir::simcuda::ObserveLibraries(observer);
}

SIMULATED unsigned long long memoir_simulated_peak(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().device(device).Info().peak : 0;
}

SIMULATED unsigned long long memoir_simulated_launches() { return memoir::simcuda::LaunchesInAll(); }

SIMULATED unsigned long long memoir_simulated_calls(const char* function) {
  return memoir::simcuda::CallsOfStub(function);
}

SIMULATED void memoir_simulated_split(int color, int ranks) {
  const std::lock_guard lock(TheSplits().mutex);
  TheSplits().ranks[color] = ranks;
}

SIMULATED int memoir_simulated_split_size(int color) {
  const std::lock_guard lock(TheSplits().mutex);
  const auto found = TheSplits().ranks.find(color);
  return found == TheSplits().ranks.end() ? 0 : found->second;
}

SIMULATED unsigned long long memoir_simulated_kept() { return TheMachine().contents().kept_bytes(); }
