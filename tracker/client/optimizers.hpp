// Reports the tensors of optimizers of torch's C++ interface: parameters and their state. A part of memoir/torch.hpp;
// include torch.hpp instead.
#ifndef TRACKER_CLIENT_OPTIMIZERS_HPP_
#define TRACKER_CLIENT_OPTIMIZERS_HPP_

#include <torch/optim.h>
#include <memoir.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace memoir {
namespace internal {

// The tensors that an optimizer keeps as the state of one parameter. Empty for an optimizer whose class is not one of
// torch's own. Addresses of tensors in lists have the lowest bit set (memoir_optimizer_holds in memoir.h).
class OptimizerStateTensors {
 public:
  explicit OptimizerStateTensors(const torch::optim::OptimizerParamState& state) {
    using namespace torch::optim;
    if (const auto* adam = dynamic_cast<const AdamParamState*>(&state)) {
      Take(adam->exp_avg(), adam->exp_avg_sq(), adam->max_exp_avg_sq());
    } else if (const auto* adamw = dynamic_cast<const AdamWParamState*>(&state)) {
      Take(adamw->exp_avg(), adamw->exp_avg_sq(), adamw->max_exp_avg_sq());
    } else if (const auto* sgd = dynamic_cast<const SGDParamState*>(&state)) {
      Take(sgd->momentum_buffer());
    } else if (const auto* rms = dynamic_cast<const RMSpropParamState*>(&state)) {
      Take(rms->square_avg(), rms->momentum_buffer(), rms->grad_avg());
    } else if (const auto* ada = dynamic_cast<const AdagradParamState*>(&state)) {
      Take(ada->sum());
    } else if (const auto* lbfgs = dynamic_cast<const LBFGSParamState*>(&state)) {
      Take(lbfgs->d(), lbfgs->H_diag(), lbfgs->prev_flat_grad());
      TakeListed(lbfgs->old_dirs());
      TakeListed(lbfgs->old_stps());
      TakeListed(lbfgs->ro());
      if (lbfgs->al()) TakeListed(*lbfgs->al());
    }
  }
  const std::vector<const void*>& tensors() const { return tensors_; }

 private:
  static constexpr std::size_t kMost = 512;

  template <class... Tensors>
  void Take(const Tensors&... tensors) {
    (Add(tensors, 0), ...);
  }
  template <class List>
  void TakeListed(const List& list) {
    for (const torch::Tensor& tensor : list) Add(tensor, 1);
  }
  void Add(const torch::Tensor& tensor, std::uintptr_t mark) {
    if (!tensor.defined() || tensors_.size() == kMost) return;
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.unsafeGetTensorImpl());
    tensors_.push_back(reinterpret_cast<const void*>(address | mark));
  }

  std::vector<const void*> tensors_;
};

// Reports the tensors of one optimizer, in as many calls of memoir_optimizer_holds as necessary.
class OptimizerHoldings {
 public:
  OptimizerHoldings(const Functions& functions, torch::optim::Optimizer& optimizer)
      : functions_(functions), optimizer_(reinterpret_cast<std::uint64_t>(&optimizer)) {
    const auto& states = optimizer.state();
    for (const torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
      for (const torch::Tensor& parameter : group.params()) {
        if (!parameter.defined()) continue;
        const auto state = states.find(parameter.unsafeGetTensorImpl());
        Add(parameter,
            state == states.end() ? std::vector<const void*>() : OptimizerStateTensors(*state->second).tensors());
      }
    }
    if (!parameters_.empty()) Report();
  }

 private:
  static constexpr std::size_t kMostParameters = 126, kMostState = 512;

  void Add(const torch::Tensor& parameter, const std::vector<const void*>& state) {
    if (parameters_.size() == kMostParameters || state_.size() + state.size() > kMostState) Report();
    parameters_.push_back(parameter.unsafeGetTensorImpl());
    counts_.push_back(static_cast<std::uint32_t>(state.size()));
    state_.insert(state_.end(), state.begin(), state.end());
  }
  void Report() {
    functions_.optimizer_holds(optimizer_, parameters_.data(), parameters_.size(), state_.data(), counts_.data(),
                               more_);
    more_ = 1;
    parameters_.clear();
    state_.clear();
    counts_.clear();
  }

  const Functions& functions_;
  std::uint64_t optimizer_;
  std::vector<const void*> parameters_, state_;
  std::vector<std::uint32_t> counts_;
  int more_ = 0;
};

// The watched optimizers; one object per process. The tensors of an optimizer are recorded when a training step
// (memoir::Step()) or a Session begins, when a Session ends, and when the optimizer's memoir::Watch is destroyed. If
// the program runs the optimizer with memoir::Step(optimizer), that function records the tensors instead.
class Optimizers {
 public:
  static Optimizers& Get() {
    static Optimizers* const optimizers = new Optimizers;
    return *optimizers;
  }

  void Add(torch::optim::Optimizer* optimizer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    watched_.push_back({optimizer, false});
  }
  void Remove(const torch::optim::Optimizer* optimizer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = Find(optimizer);
    if (known == watched_.end()) return;
    Report(*known);
    watched_.erase(known);
  }
  void NoteStep(const torch::optim::Optimizer* optimizer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto known = Find(optimizer); known != watched_.end()) known->is_reported_by_step = true;
  }
  void ReportAll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const WatchedOptimizer& watched : watched_) Report(watched);
  }

 private:
  struct WatchedOptimizer {
    torch::optim::Optimizer* optimizer;
    bool is_reported_by_step;
  };

  std::vector<WatchedOptimizer>::iterator Find(const torch::optim::Optimizer* optimizer) {
    return std::find_if(watched_.begin(), watched_.end(),
                        [=](const WatchedOptimizer& w) { return w.optimizer == optimizer; });
  }
  static void Report(const WatchedOptimizer& watched) {
    const Functions* functions = watched.is_reported_by_step ? nullptr : Recording();
    if (functions != nullptr) OptimizerHoldings(*functions, *watched.optimizer);
  }

  std::mutex mutex_;
  std::vector<WatchedOptimizer> watched_;
};

}  // namespace internal
}  // namespace memoir

#endif  // TRACKER_CLIENT_OPTIMIZERS_HPP_
