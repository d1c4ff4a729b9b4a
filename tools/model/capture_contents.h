// The private members of an open Capture. Only the two files that define its functions include this file: capture.cc,
// and replay/capture_replay.cc.
#ifndef TOOLS_MODEL_CAPTURE_CONTENTS_H_
#define TOOLS_MODEL_CAPTURE_CONTENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/model/capture.h"
#include "tools/model/parts/decoded_chunks.h"
#include "tools/read/capture_folder.h"

namespace memoir {

struct Capture::Contents {
  std::string path;
  CaptureFolder folder;
  std::vector<ProcessSummary> processes;
  DecodedChunks decoded;
  std::vector<RecordedRun> runs;
  std::uint32_t run = kAllRuns;
};

// Removes the damage of the parts of `process` from `damage`.
inline void ForgetDamageOf(const ProcessFiles& process, std::vector<Damage>* damage) {
  for (const PartFile& part : process.parts) {
    if (part.damage) std::erase(*damage, *part.damage);
    for (const Damage& passed : part.passed_over) std::erase(*damage, passed);
  }
}

}  // namespace memoir

#endif  // TOOLS_MODEL_CAPTURE_CONTENTS_H_
