#include "interpose/simcuda/api/identity.h"

#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/counts.h"
#include "interpose/simcuda/kernels.h"
#include "interpose/simcuda/machine.h"

using memoir::simcuda::TheMachine;

SIMULATED const char* memoir_simulated_device() { return TheMachine().configuration().description.c_str(); }

SIMULATED unsigned long long memoir_simulated_used(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().device(device).Info().used : 0;
}

SIMULATED unsigned long long memoir_simulated_peak(int device) {
  return TheMachine().IsDevice(device) ? TheMachine().device(device).Info().peak : 0;
}

SIMULATED unsigned long long memoir_simulated_launches() { return memoir::simcuda::LaunchesInAll(); }

SIMULATED unsigned long long memoir_simulated_calls(const char* function) {
  return memoir::simcuda::CallsOfStub(function);
}

SIMULATED unsigned long long memoir_simulated_kept() { return TheMachine().contents().kept_bytes(); }
