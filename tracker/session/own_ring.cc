#include "tracker/session/own_ring.h"

#include "interpose/ring/ring.h"

namespace memoir {

bool OpenOwnRing(const Settings& settings, const std::string& stem, std::string* error) {
  // The loader must find memoir_ring_layout_13, because this line uses it. So this library does not load with an
  // interposer of another version of Memoir that does not define the symbol.
  if (memoir_ring_layout_13 != kRingVersion) {
    *error = "the interposer that is loaded is another Memoir's; install Memoir again";
    return false;
  }
  RingOptions ring{};
  ring.folder = settings.ring_dir.empty() ? nullptr : settings.ring_dir.c_str();
  ring.bytes = settings.ring_size;
  ring.capture_folder = settings.output.c_str();
  ring.file_stem = stem.c_str();
  char message[512] = "";
  if (RingOpen(ring, message, sizeof message)) return true;
  *error = message;
  return false;
}

}  // namespace memoir
