// Encodes chunks and hashes of names as docs/capture_format.md defines them, for writers other than the tracker. This
// code is independent of the tracker's code.
//
// Pure; any thread.
#ifndef TOOLS_IMPORT_FILES_CHUNK_BYTES_H_
#define TOOLS_IMPORT_FILES_CHUNK_BYTES_H_

#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// Returns the hash of a name's content: its kind, its text, and the other fields of a module or of code.
std::string HashOf(const v1::NameDef& name);
// Compresses the payload into the chunk, and sets its size and checksum.
void PackPayload(const v1::Payload& payload, v1::Chunk& chunk);
// Returns the bytes of the chunk in a part, with tag and length. Adds the header's checksum if the field `recording` is
// set, and the chunk's length if the chunk has an index.
std::string EncodeChunk(v1::Chunk chunk);

}  // namespace memoir

#endif  // TOOLS_IMPORT_FILES_CHUNK_BYTES_H_
