// Visits the chunks of one part up to the first damaged chunk, for memoir-drain. Checks each length in the file before
// it uses the length. One thread.
#ifndef TRACKER_DRAIN_PART_READER_H_
#define TRACKER_DRAIN_PART_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace memoir {

struct ChunkView {
  std::uint64_t sequence = 0;
  std::uint64_t recording = 0;  // id of the recording; 0: an early version of Memoir wrote the chunk
  std::string_view process;     // encoded ProcessInfo (capture.proto); only in the first chunk of a part
  std::string_view payload;     // decompressed; empty in the chunk with the part's index
};

// Calls `visit` with each chunk until a chunk is cut or damaged, the file ends, or `visit` returns false.
void ReadPart(const std::string& path, const std::function<bool(const ChunkView&)>& visit);

}  // namespace memoir

#endif  // TRACKER_DRAIN_PART_READER_H_
