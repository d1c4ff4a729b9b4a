// A damaged place of a file. Damage never stops a reader: the reader uses everything before the damage. part_file.h
// finds damaged headers of chunks. tools/model/parts/chunk_source.h finds damaged payloads, and skips the rest of the
// part.
#ifndef TOOLS_READ_DAMAGE_H_
#define TOOLS_READ_DAMAGE_H_

#include <cstdint>
#include <string>

namespace memoir {

struct Damage {
  std::string file;
  std::uint64_t offset = 0;  // offset of the damaged chunk in the file, or the end of a cut file
  std::string what;          // "cut in the middle of a chunk", "checksum does not match", ...
  bool whole_file = false;   // nothing of the file is used, and `offset` has no meaning
  bool operator==(const Damage&) const = default;
};

// Returns "FILE: WHAT at offset N". Without the offset if `whole_file`.
std::string ToString(const Damage& damage);

}  // namespace memoir

#endif  // TOOLS_READ_DAMAGE_H_
