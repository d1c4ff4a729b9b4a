// Walks the chunks of one part as far as they are whole, for memoir-drain. Trusts no length before it was checked. One
// thread.
#ifndef TRACKER_DRAIN_PART_READER_H_
#define TRACKER_DRAIN_PART_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace memoir {

struct ChunkView {
  std::uint64_t sequence = 0;
  std::uint64_t recording = 0;  // 0: an early version's
  std::string_view process;  // encoded ProcessInfo, in a part's first chunk
  std::string_view payload;  // decompressed; empty in an index chunk
};

// Calls `visit` with each chunk until one is cut or damaged, the file ends, or `visit` returns false.
void ReadPart(const std::string& path, const std::function<bool(const ChunkView&)>& visit);

}  // namespace memoir

#endif  // TRACKER_DRAIN_PART_READER_H_
