// Small values are computed by the thread that asks for them, alone. Torch's kernels for the CPU would wake a thread
// for each core, whatever the size: for a few kilobytes that costs more than the work, and OpenMP's threads spin
// between two pieces of it.
//
// Any thread. Nothing of another thread is touched: how many threads the program's own work gets stays as it was.
#ifndef TRACKER_TORCH_SIMULATED_ONE_HOST_THREAD_H_
#define TRACKER_TORCH_SIMULATED_ONE_HOST_THREAD_H_

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

#endif  // TRACKER_TORCH_SIMULATED_ONE_HOST_THREAD_H_
