// Captures for the tests of views and of the program: small, the same on every machine, one for each thing that a view
// must cope with.
#ifndef TESTS_GOLDEN_SAMPLE_CAPTURES_H_
#define TESTS_GOLDEN_SAMPLE_CAPTURES_H_

#include <string>
#include <vector>

namespace memoir::testing {

// training: three steps with user ranges, temporaries, two threads, a storage first seen, marks
// empty: a process that recorded nothing       one_operator: a single allocation
// odd_names: very long, wide, and hostile names      ranks: two processes, one with a second device
// losses: drops, a cut part, a missing chunk         folded: older parts removed by the size cap
// trained: two steps with parameters, buffers, gradients and an optimizer's state
// cuda_unknown: a recording without CUDA's memory, cuda_lost: one that lost it midway driver: torch, NCCL, cuBLAS, a
// foreign library, pinned memory and other processes on a GPU; refusals calls: of Python functions, of which some are
// not recorded Not in the list, because its summary shows nothing: kernel_times, launches whose kernels were timed
std::vector<std::string> SampleNames();
void WriteKernels(const std::string& folder);      // sample_kernels.cc
void WriteKernelTimes(const std::string& folder);  // likewise
// Writes the capture of that name into `folder`, which need not exist.
void WriteSample(const std::string& name, const std::string& folder);
void WriteCalls(const std::string& folder);  // of these the one that sample_calls.cc has

}  // namespace memoir::testing

#endif  // TESTS_GOLDEN_SAMPLE_CAPTURES_H_
