// Implements tracker/memoir.h and tracker/memoir_python.h, except for modules and optimizers
// (tracker/modules/c_interface.cc, tracker/modules/python_interface.cc) and for calls of Python functions
// (tracker/stacks/call_events.cc).
#include "tracker/memoir.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracker/memoir_python.h"
#include "tracker/session/control/program_records.h"
#include "tracker/session/control/recording_controls.h"
#include "tracker/session/process/not_recording_message.h"
#include "tracker/session/process/terminal_line.h"
#include "tracker/session/session.h"
#include "tracker/session/standby.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/tensors/gradient_buckets.h"
#include "tracker/torch/tensors/saved_tensor_address.h"
#include "tracker/writer/file/folder_paths.h"

namespace {

using memoir::RecordingControls;

int Fail(const char* text, char* message, std::size_t size) {
  // Only the first line becomes the message, because torch appends a backtrace.
  const int line = static_cast<int>(std::strcspn(text, "\n"));
  if (message != nullptr && size > 0) std::snprintf(message, size, "%.*s", line, text);
  return -1;
}

// Calls `work`, and turns each exception into an error message, because no exception may leave the C interface.
// Possible exceptions are std::bad_alloc, and errors of a locale or of a removed folder. `when`: the end of the message
// "out of memory ...".
template <class Work>
int Guarded(const char* when, char* message, std::size_t size, const Work& work) {
  char text[160];
  try {
    std::string error;
    return work(&error) ? 0 : Fail(error.c_str(), message, size);
  } catch (const std::bad_alloc&) {
    std::snprintf(text, sizeof text, "out of memory %s", when);
    return Fail(text, message, size);
  } catch (const std::exception& failure) {
    return Fail(failure.what(), message, size);
  } catch (...) {
    std::snprintf(text, sizeof text, "unknown failure %s", when);
    return Fail(text, message, size);
  }
}

constexpr char kAtStart[] = "at the start of the recording; allow the program more memory";
constexpr char kAtEnd[] = "at the end of the recording; its newest events may be missing";

int SetLevel(memoir::RecordingLevel level) {
  try {
    return RecordingControls::WithCurrent([level](RecordingControls& own) { return own.RequestLevel(level) ? 0 : -1; },
                                          -1);
  } catch (...) {
    return -1;
  }
}

// True after memoir_program_starts has started a recording, before main.
constinit std::atomic<bool> program_records{false};
// The text of memoir_uncaught, written by the thread that ends the program.
constinit char uncaught[16 * 1024] = "";

bool Start(const char* const* given, std::string* error) {
  const std::optional<memoir::Settings> settings = memoir::ReadSettings(given, error);
  if (!settings) return false;
  // A program whose recording began before main may embed a Python interpreter. If the interpreter imports torch, the
  // Python package calls this function, and the running recording continues.
  if (settings->automatic && program_records.load(std::memory_order_relaxed) && memoir_recording() == 1) return true;
  for (const std::string& warning : settings->warnings) memoir::PrintLine("%s", warning.c_str());
  return memoir::StartSession(*settings, error);
}

bool Watch(const char* const* given, std::string* error) {
  const std::optional<memoir::Settings> settings = memoir::ReadSettings(given, error);
  if (settings) memoir::StandBy(*settings);
  return settings.has_value();
}

void StopAtExit() {
  char message[1024];
  if (memoir_stop(MEMOIR_EXITED, message, sizeof message) != 0) memoir::PrintLine("%s", message);
}

}  // namespace

int memoir_start(const char* const* settings, char* message, size_t size) {
  return Guarded(kAtStart, message, size, [&](std::string* error) { return Start(settings, error); });
}

void memoir_program_starts(const char* program) {
  try {
    const std::string name = std::string("program=") + program;
    const char* const settings[] = {"automatic=1", name.c_str(), nullptr};
    char message[1024] = "";
    if (memoir_start(settings, message, sizeof message) != 0) return memoir::PrintNotRecording(message, false);
    program_records.store(true, std::memory_order_relaxed);
    std::atexit(&StopAtExit);
    // In a child, memoir_forked runs after the recording's own fork handlers. The child begins to record when it
    // trains.
    pthread_atfork(nullptr, nullptr, &memoir_forked);
  } catch (...) {  // no memory even for a message
  }
}

int memoir_watch(const char* const* given, char* message, size_t size) {
  return Guarded(kAtStart, message, size, [&](std::string* error) {
    try {
      return Watch(given, error);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& failure) {
      *error = std::string("torch does not let Memoir watch for training: ") + failure.what();
      return false;
    }
  });
}

void memoir_forked(void) {
  try {
    memoir::StandByAfterFork();
  } catch (...) {  // this child is not recorded
  }
}

void memoir_leave(void) {
  try {
    memoir::LeaveStandby();
  } catch (...) {  // torch still calls the training watch, which then does nothing
  }
}

int memoir_begin(char* message, size_t size) {
  return Guarded(kAtStart, message, size, [](std::string* error) { return memoir::BeginFromStandby(error); });
}

void memoir_rank(uint32_t rank, uint32_t world_size) {
  try {
    memoir::SetRank(rank, world_size);
  } catch (...) {  // the capture keeps the previous rank
  }
}

void memoir_coordinates(const char* const* dimensions, const uint32_t* indices, const uint32_t* sizes, size_t count) {
  constexpr size_t kMost = 16;
  try {
    std::vector<memoir::Coordinate> coordinates;
    for (size_t i = 0; i < std::min(count, kMost); ++i)
      coordinates.push_back({dimensions[i] == nullptr ? "" : dimensions[i], indices[i], sizes[i]});
    memoir::SetCoordinates(std::move(coordinates));
  } catch (...) {  // the capture keeps the previous coordinates
  }
}

void memoir_cuda_is_ready(void) {
  try {
    memoir::NoteCudaReady();
  } catch (...) {  // CUDA memory is not recorded
  }
}

int memoir_stop(enum memoir_end reason, char* message, size_t size) {
  const auto end = reason == MEMOIR_EXITED ? memoir::EndReason::kExited : memoir::EndReason::kStopped;
  return Guarded(kAtEnd, message, size, [end](std::string* error) {
    return memoir::StopSession(end, end == memoir::EndReason::kExited ? uncaught : "", error);
  });
}

void memoir_uncaught(const char* text) {
  if (text != nullptr) std::snprintf(uncaught, sizeof uncaught, "%s", text);
}

void memoir_mark(const char* text) {
  if (text != nullptr) memoir::RecordMark(text);
}

void memoir_step(uint64_t step) {
  memoir::BeginFromStandbyOrPrint();  // a process that calls memoir_step is training
  const auto record = [step](RecordingControls& own) {
    own.Step(step);
    return true;
  };
  try {
    RecordingControls::WithCurrent(record, false);
  } catch (...) {  // no memory to change the level, which stays the same
  }
}

void* memoir_begin_range(const char* name) {
  try {
    return name == nullptr ? nullptr : memoir::BeginUserRange(name);
  } catch (...) {  // no memory, or another tool's callback threw
    return nullptr;
  }
}

void memoir_end_range(void* range) {
  try {
    memoir::EndUserRange(range);
  } catch (...) {  // no memory, or another tool's callback threw
  }
}

int memoir_pause(int keep_memory) {
  return SetLevel(keep_memory != 0 ? memoir::RecordingLevel::kMemory : memoir::RecordingLevel::kOff);
}

int memoir_resume(void) { return SetLevel(memoir::RecordingLevel::kAll); }

enum memoir_level memoir_level(void) {
  return RecordingControls::Read(
      [](const RecordingControls& own) {
        return own.recording() ? static_cast<enum memoir_level>(own.level()) : MEMOIR_OFF;
      },
      MEMOIR_OFF);
}

void memoir_flush(void) {
  try {
    memoir::FlushSession();
  } catch (...) {  // no caller receives the error; events that were not written are still in the ring
  }
}

int memoir_snapshot(const char* folder, char* message, size_t size) {
  return Guarded("for a snapshot", message, size, [&](std::string* error) {
    std::string into = folder == nullptr ? "" : memoir::AbsolutePath(folder);
    if (!memoir::SnapshotSession(&into, error)) return false;
    if (message != nullptr && size > 0) std::snprintf(message, size, "%s", into.c_str());
    return true;
  });
}

int memoir_recording(void) {
  return RecordingControls::Read([](const RecordingControls& own) { return own.recording() ? 1 : 0; }, 0);
}

int memoir_recording_modules(void) {
  try {
    return memoir::SessionRecords(&memoir::Settings::modules) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

int memoir_recording_calls(void) {
  try {
    return memoir::SessionRecords(&memoir::Settings::calls) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

int memoir_recording_holders(void) {
  try {
    return memoir::SessionRecords(&memoir::Settings::holders) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

uint64_t memoir_python_saved(const void* saved) { return memoir::SavedTensorAddress(saved); }

size_t memoir_python_buckets(const void* reducer, uint64_t* addresses, size_t most) {
  return memoir::BucketAddresses(reducer, addresses, most);
}

int memoir_output(char* folder, size_t size) {
  try {
    std::snprintf(folder, size, "%s", memoir::SessionOutput().c_str());
    return 0;
  } catch (...) {
    return -1;
  }
}

const char* memoir_torch_version(void) { return MEMOIR_TORCH_MINOR; }
