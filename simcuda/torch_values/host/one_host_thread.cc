#include "simcuda/torch_values/host/one_host_thread.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace memoir {
namespace {

// at::set_num_threads would change the number for the whole process. These functions change it for one thread.
using SetNumber = void (*)(int);
using ExchangeNumber = int (*)(int);

// Finds a function of OpenMP or MKL. The result is the copy that torch's kernels call, because the loader resolves
// symbols in the same order for Memoir's library and for torch. A torch that was built without OpenMP, or without MKL,
// has no such function.
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

// Torch sets a thread's number of OpenMP threads when the thread first runs parallel work. The call of
// at::get_num_threads makes torch do this now, so that torch does not change the number later.
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
