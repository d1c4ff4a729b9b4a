// An operator whose autograd formula is a torch::autograd::Function of C++, as extensions write them:
// torch.ops.memoir_test.scaled_square(x, factor).
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace {

class ScaledSquare : public torch::autograd::Function<ScaledSquare> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double factor) {
    context->save_for_backward({x});
    context->saved_data["factor"] = factor;
    return x * x * factor;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor x = context->get_saved_variables()[0];
    return {gradients[0] * x * (2 * context->saved_data["factor"].toDouble()), at::Tensor()};
  }
};

at::Tensor Apply(const at::Tensor& x, double factor) { return ScaledSquare::apply(x, factor); }

}  // namespace

TORCH_LIBRARY(memoir_test, library) {
  library.def("scaled_square(Tensor x, float factor) -> Tensor");
  library.impl("scaled_square", c10::DispatchKey::CompositeImplicitAutograd, &Apply);
}
