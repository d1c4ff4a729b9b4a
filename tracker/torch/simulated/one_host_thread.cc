#include "tracker/torch/simulated/one_host_thread.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace memoir {
namespace {

// Not at::set_num_threads: that sets the whole process.
using SetNumber = void (*)(int);
using ExchangeNumber = int (*)(int);

// Of the OpenMP that torch's kernels call: this library's symbols are looked for where those of torch's are. A torch
// that was built without OpenMP, or without MKL, has none.
template <typename Function>
Function Find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

SetNumber OpenMpOfThisThread() {
  static const SetNumber set = Find<SetNumber>("omp_set_num_threads");
  return set;
}

ExchangeNumber MklOfThisThread() {
  static const ExchangeNumber exchange = Find<ExchangeNumber>("MKL_Set_Num_Threads_Local");
  return exchange;
}

}  // namespace

// at::get_num_threads also does what torch would do at this thread's first parallel work, which sets the number anew.
OneHostThread::OneHostThread() : openmp_before_(at::get_num_threads()) {
  if (openmp_before_ <= 1) return;
  if (const SetNumber set = OpenMpOfThisThread()) set(1);
  if (const ExchangeNumber exchange = MklOfThisThread()) mkl_before_ = exchange(1);
}

OneHostThread::~OneHostThread() {
  if (openmp_before_ <= 1) return;
  if (const SetNumber set = OpenMpOfThisThread()) set(openmp_before_);
  if (const ExchangeNumber exchange = MklOfThisThread()) exchange(mkl_before_);
}

}  // namespace memoir
