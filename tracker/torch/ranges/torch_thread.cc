#include "tracker/torch/ranges/torch_thread.h"

#include <ATen/record_function.h>

#include "tracker/torch/ranges/dispatch_key.h"

namespace memoir {

void JoinTorchThread(ThreadSlot* slot) {
  slot->torch_id.store(at::RecordFunction::currentThreadId(), std::memory_order_relaxed);
  ShowOperatorsOfThisThread();
}

}  // namespace memoir
