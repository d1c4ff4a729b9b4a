// A libtorch program without Python that records itself through the C interface: libtorch_program CAPTURE [kill].
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>

#include <csignal>
#include <cstdio>

#include "tracker/memoir.h"

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const at::Tensor before = at::mul(at::ones({10}), 2);
  const std::string output = std::string("output=") + arguments[1];
  const char* const settings[] = {output.c_str(), "program=libtorch_program", nullptr};
  char message[1024];
  if (memoir_start(settings, message, sizeof message) != 0) return std::fprintf(stderr, "%s\n", message), 1;
  at::Tensor sum = at::ones({1000});
  for (int i = 0; i < 3; ++i) sum = at::add(sum, 1);
  memoir_step(7);
  memoir_mark("in C++");
  if (memoir_pause(0) != 0 || memoir_level() != MEMOIR_OFF || memoir_recording() != 1) return 3;
  at::mul(sum, 2);
  if (memoir_resume() != 0 || memoir_level() != MEMOIR_ALL) return 4;
  if (count > 2) std::raise(SIGKILL);
  if (memoir_stop(MEMOIR_STOPPED, message, sizeof message) != 0) return std::fprintf(stderr, "%s\n", message), 5;
  return memoir_pause(0) == -1 && memoir_recording() == 0 ? 0 : 6;
}
