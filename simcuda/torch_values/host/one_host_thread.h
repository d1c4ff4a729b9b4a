// While this object exists, torch's CPU kernels on this thread use no other thread. Without it, a kernel wakes one
// thread for each core, even for a few kilobytes. Waking the threads takes longer than the work itself, and OpenMP's
// threads spin between two pieces of work.
//
// Any thread. Other threads are not affected, and the number of threads for the program's work is restored.
#ifndef SIMCUDA_TORCH_VALUES_HOST_ONE_HOST_THREAD_H_
#define SIMCUDA_TORCH_VALUES_HOST_ONE_HOST_THREAD_H_

namespace memoir {

class OneHostThread {
 public:
  OneHostThread();
  ~OneHostThread();
  OneHostThread(const OneHostThread&) = delete;
  OneHostThread& operator=(const OneHostThread&) = delete;

 private:
  int openmp_before_, mkl_before_ = 0;
};

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_ONE_HOST_THREAD_H_
