#include <algorithm>
#include <filesystem>

#include "tests/writer/capture_decoder.h"

namespace memoir::test {

DecodedCapture DecodeFolder(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".memoir") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  DecodedCapture capture;
  for (const std::string& path : paths) capture.parts.push_back(DecodePart(path, &capture.errors));
  return capture;
}

std::vector<const DecodedChunk*> DecodedCapture::chunks() const {
  std::vector<const DecodedChunk*> all;
  for (const DecodedPart& part : parts) {
    for (const DecodedChunk& chunk : part.chunks) all.push_back(&chunk);
  }
  return all;
}

std::map<std::uint32_t, std::vector<Event>> DecodedCapture::EventsByThread() const {
  std::map<std::uint32_t, std::vector<Event>> threads;
  for (const DecodedChunk* chunk : chunks()) {
    for (const DecodedRun& run : chunk->runs) {
      auto& events = threads[run.thread];
      events.insert(events.end(), run.events.begin(), run.events.end());
    }
  }
  return threads;
}

std::uint64_t DecodedCapture::events() const {
  std::uint64_t count = 0;
  for (const DecodedChunk* chunk : chunks()) count += chunk->header.event_count();
  return count;
}

void DecodedCapture::ForgetBeforeGaps() {
  std::erase_if(parts, [](const DecodedPart& part) { return part.chunks.empty(); });
  std::size_t first = parts.size() - 1;
  // Not by numbers of parts, because a kill may leave a part without a chunk. A part's index also takes a number.
  const auto follows = [&](std::size_t part) {
    return parts[part].chunks.front().header.sequence() <= parts[part - 1].chunks.back().header.sequence() + 2;
  };
  while (first > 0 && follows(first)) --first;
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
}

const memoir::v1::Counters& DecodedCapture::counters() const { return chunks().back()->payload.counters(); }
const memoir::v1::End& DecodedCapture::end() const { return chunks().back()->payload.end(); }

}  // namespace memoir::test
