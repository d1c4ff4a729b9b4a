#include "tracker/memoir.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tracker/session/session.h"

namespace {

int Fail(const std::string& text, char* message, std::size_t size) {
  if (message != nullptr && size > 0) std::snprintf(message, size, "%s", text.c_str());
  return -1;
}

memoir::ThreadSlot* Slot() { return memoir::RecordingEnabled() ? memoir::RingThread() : nullptr; }

int Start(const char* const* given, char* message, std::size_t size) {
  std::string error;
  const std::optional<memoir::Settings> settings = memoir::ReadSettings(given, &error);
  if (!settings) return Fail(error, message, size);
  for (const std::string& warning : settings->warnings) std::fprintf(stderr, "memoir: %s\n", warning.c_str());
  if (!memoir::StartSession(*settings, &error)) return Fail(error, message, size);
  return 0;
}

}  // namespace

// Nothing may leave through the C interface: not out of memory, a locale, or a folder that vanished.
int memoir_start(const char* const* settings, char* message, size_t size) {
  try {
    return Start(settings, message, size);
  } catch (const std::exception& failure) {
    return Fail(failure.what(), message, size);
  } catch (...) {
    return Fail("unknown failure at the start of the recording", message, size);
  }
}

int memoir_stop(enum memoir_end reason, char* message, size_t size) {
  try {
    std::string error;
    const auto end = reason == MEMOIR_EXITED ? memoir::EndReason::kExited : memoir::EndReason::kStopped;
    return memoir::StopSession(end, &error) ? 0 : Fail(error, message, size);
  } catch (const std::exception& failure) {
    return Fail(failure.what(), message, size);
  } catch (...) {
    return Fail("unknown failure at the end of the recording", message, size);
  }
}

void memoir_mark(const char* text) {
  memoir::ThreadSlot* slot = text == nullptr ? nullptr : Slot();
  if (slot == nullptr) return;
  const std::size_t length = strnlen(text, memoir::kMaxInlineName);
  const std::size_t bytes = sizeof(memoir::MarkRecord) + ((length + 7) & ~std::size_t{7});
  std::uint8_t* place = memoir::RingReserve(slot, bytes, memoir::OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) memoir::MarkRecord{};
  record->header = {.words = static_cast<std::uint16_t>(bytes / 8),
                    .kind = memoir::RecordKind::kMark,
                    .flags = 0,
                    .depth = slot->depth,
                    .count = 0};
  record->tick = memoir::Tick();
  record->length = length;
  std::memcpy(place + sizeof(memoir::MarkRecord), text, length);
  memoir::RingCommit(slot, bytes);
}

void memoir_step(uint64_t step) {
  memoir::ThreadSlot* slot = Slot();
  if (slot == nullptr) return;
  std::uint8_t* place = memoir::RingReserve(slot, sizeof(memoir::StepRecord), memoir::OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) memoir::StepRecord{};
  record->header = {.words = sizeof(memoir::StepRecord) / 8,
                    .kind = memoir::RecordKind::kStep,
                    .flags = 0,
                    .depth = slot->depth,
                    .count = 0};
  record->tick = memoir::Tick();
  record->step = step;
  memoir::RingCommit(slot, sizeof(memoir::StepRecord));
}

void memoir_flush(void) {
  try {
    memoir::FlushSession();
  } catch (...) {  // nothing to say it to; what is not on file is still in the ring
  }
}

int memoir_recording(void) { return memoir::RecordingEnabled() ? 1 : 0; }

int memoir_output(char* folder, size_t size) {
  try {
    std::snprintf(folder, size, "%s", memoir::SessionOutput().c_str());
    return 0;
  } catch (...) {
    return -1;
  }
}

const char* memoir_torch_version(void) { return MEMOIR_TORCH_MINOR; }
