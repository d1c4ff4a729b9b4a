#include "tracker/stacks/frame_layout.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace memoir {
namespace {

constexpr std::uint32_t kMinor = 0xffff0000u;

// The order of the numbers: thread_state, code_type; frame, through; previous, code, instruction, owner; file,
// function, line_table, first_line, instructions; ascii_text, other_text; lines_in_pairs. The offsets are from the
// headers of each version of Python.
constexpr FrameLayout k310 = {nullptr, nullptr, 24, -1, 24, 32, 96, -1, 104, 112, 120, 40, 0, 48, 72, true};
constexpr FrameLayout k311 = {nullptr, nullptr, 56, 8, 48, 32, 56, 69, 112, 128, 136, 72, 184, 48, 72, false};
constexpr FrameLayout k312 = {nullptr, nullptr, 56, 0, 8, 0, 56, 70, 112, 128, 136, 68, 192, 40, 56, false};

// The indices of fields in _Py_DebugOffsets, as an array of 8-byte words.
struct Offsets {
  int frame, previous, code, instruction, owner, file, function, line_table, first_line, instructions;
};
constexpr Offsets k313 = {23, 29, 30, 31, 33, 35, 37, 38, 39, 43};
constexpr Offsets k314 = {26, 32, 33, 34, 36, 40, 42, 43, 44, 48};
constexpr char kCookie[] = "xdebugpy";
constexpr std::uint64_t kMostOffset = 4096;  // bytes; no offset, not even one in a thread's state, is larger

bool Refuse(char* problem, std::size_t size, std::uint32_t version, const char* why) {
  std::snprintf(problem, size, "Python %u.%u.%u: %s", version >> 24, version >> 16 & 0xff, version >> 8 & 0xff, why);
  return false;
}

bool FromDebugOffsets(const Offsets& at, const void* runtime, FrameLayout* layout) {
  const auto* words = static_cast<const std::uint64_t*>(runtime);
  bool sound = true;
  const auto offset = [&](int word) {
    sound = sound && words[word] < kMostOffset;
    return static_cast<int>(words[word]);
  };
  *layout = {nullptr,
             nullptr,
             offset(at.frame),
             -1,
             offset(at.previous),
             offset(at.code),
             offset(at.instruction),
             offset(at.owner),
             offset(at.file),
             offset(at.function),
             offset(at.line_table),
             offset(at.first_line),
             offset(at.instructions),
             40,
             56,
             false};
  return sound && layout->instructions > layout->line_table && layout->file != 0;
}

bool RuntimeIsAsExpected(std::uint32_t version, const void* runtime, char* problem, std::size_t size) {
  if (runtime == nullptr || std::memcmp(runtime, kCookie, sizeof kCookie - 1) != 0)
    return Refuse(problem, size, version, "it does not publish where its frames are");
  const auto* words = static_cast<const std::uint64_t*>(runtime);
  if ((words[1] ^ version) >> 16 != 0)
    return Refuse(problem, size, version, "its published frame layout is that of another version");
  if (words[2] != 0) return Refuse(problem, size, version, "a free-threaded build");
  return true;
}

// Returns the version of the interpreter in this process; 0 if there is no interpreter. Py_Version exists since Python
// 3.11.
std::uint32_t VersionHere() {
  if (const void* version = dlsym(RTLD_DEFAULT, "Py_Version"); version != nullptr)
    return static_cast<std::uint32_t>(*static_cast<const unsigned long*>(version));
  const auto text = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  if (text == nullptr) return 0;
  char* end = nullptr;
  const unsigned long major = std::strtoul(text(), &end, 10);
  const unsigned long minor = *end == '.' ? std::strtoul(end + 1, &end, 10) : 0;
  return static_cast<std::uint32_t>(major << 24 | minor << 16);
}

}  // namespace

bool LayoutOf(std::uint32_t version, const void* runtime, FrameLayout* layout, char* problem, std::size_t size) {
  if (sizeof(void*) != 8) return Refuse(problem, size, version, "not a 64-bit one");
  switch (version & kMinor) {
    case 0x030a0000:
      *layout = k310;
      return true;
    case 0x030b0000:
      *layout = k311;
      return true;
    case 0x030c0000:
      *layout = k312;
      return true;
    case 0x030d0000:
    case 0x030e0000:
      if (!RuntimeIsAsExpected(version, runtime, problem, size)) return false;
      if (FromDebugOffsets((version & kMinor) == 0x030d0000 ? k313 : k314, runtime, layout)) return true;
      return Refuse(problem, size, version, "its published frame layout cannot be right");
    default:
      return Refuse(problem, size, version, "frames can be read in 3.10 to 3.14");
  }
}

const FrameLayout* FindFrameLayout(char* problem, std::size_t size) {
  static FrameLayout layout;
  if (size != 0) *problem = '\0';
  void* thread_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  void* code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  const std::uint32_t version = VersionHere();
  if (thread_state == nullptr || code_type == nullptr || version == 0) return nullptr;
  FrameLayout found;
  if (!LayoutOf(version, dlsym(RTLD_DEFAULT, "_PyRuntime"), &found, problem, size)) return nullptr;
  if (dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount") != nullptr) {
    Refuse(problem, size, version, "a debug build");
    return nullptr;
  }
  found.thread_state = reinterpret_cast<void* (*)()>(thread_state);
  found.code_type = static_cast<char*>(code_type);
  // Written once, because late hooks may read it; each start finds the same layout.
  if (layout.thread_state == nullptr) layout = found;
  return &layout;
}

}  // namespace memoir
