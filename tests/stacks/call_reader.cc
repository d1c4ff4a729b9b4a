// Sees calls of Python functions as a recording does, and writes them down instead: a library that
// calls_as_python_says.py loads into any Python. No ring, no torch.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "tracker/stacks/code_text.h"
#include "tracker/stacks/frame_walk.h"
#include "tracker/stacks/open_calls.h"
#include "tracker/stacks/stack_recorder.h"

namespace memoir {

constinit std::atomic<const FrameLayout*> stack_layout{nullptr};

namespace {

constinit char text[16u << 20] = "";
constinit std::size_t used = 0;

// "THREAD EVENT NAME", a line each. With the GIL held.
void Say(const char* event, const char* name) {
  if (used + 512 > sizeof text) return;
  used +=
      static_cast<std::size_t>(std::snprintf(text + used, 512, "%ld %s %.400s\n", syscall(SYS_gettid), event, name));
}

void SayOfFrame(const FrameLayout& layout, const char* frame, const char* event) {
  char name[400];
  CopyText(layout, PointerAt(CodeOfFrame(layout, frame), layout.function), name, sizeof name);
  Say(event, name);
}

}  // namespace

void RecordCall(const FrameLayout& layout, const char* frame) { SayOfFrame(layout, frame, "call"); }
void RecordReturn(const FrameLayout& layout, const char* frame) { SayOfFrame(layout, frame, "return"); }
void RecordBuiltinCall(const FrameLayout&, const char*, const BuiltinCall& call) {
  Say("c_call", PointerAt(call.definition, 0));
}
void RecordBuiltinReturn(const FrameLayout&, const char*) { Say("c_return", ""); }

}  // namespace memoir

extern "C" {

// 0: `problem` says why frames cannot be read here.
__attribute__((visibility("default"))) int memoir_test_prepare(char* problem, std::size_t size) {
  const memoir::FrameLayout* layout = memoir::FindFrameLayout(problem, size);
  memoir::stack_layout.store(layout);
  return layout == nullptr ? 0 : 1;
}

// All since the call before.
__attribute__((visibility("default"))) const char* memoir_test_said(void) {
  if (memoir::used == 0) memoir::text[0] = '\0';
  memoir::used = 0;
  return memoir::text;
}
}
