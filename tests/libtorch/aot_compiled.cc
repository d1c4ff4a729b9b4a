// libtorch_aot_compiled FILE: runs a model that Python compiled with AOTInductor.
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>
#include <memoir.hpp>

#include <cstdio>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const c10::InferenceMode inference;
  torch::inductor::AOTIModelPackageLoader loader(arguments[1]);
  std::vector<at::Tensor> kept;
  for (int step = 0; step < 3; ++step) {
    memoir::Step();
    const memoir::Range range("inference");
    kept = loader.run({torch::randn({32, 64})});
  }
  memoir::Mark("ran");
  std::printf("ran %d\n", static_cast<int>(kept.front().size(1)));
  return 0;
}
