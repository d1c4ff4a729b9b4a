// The bytes of a chunk and the hashes in it, as docs/capture_format.md has them, for what writes captures outside of
// the recorder. It shares no code with the recorder.
//
// Pure; any thread.
#ifndef TOOLS_IMPORT_CHUNK_BYTES_H_
#define TOOLS_IMPORT_CHUNK_BYTES_H_

#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// Of what it says: kind, text, and of a module or of code the rest.
std::string HashOf(const v1::NameDef& name);
// Compresses it into the chunk, with its size and checksum.
void PackPayload(const v1::Payload& payload, v1::Chunk& chunk);
// As it stands in a part, tag and length included. A chunk with `recording` gets its header's checksum, one with an
// index its own length behind it.
std::string EncodeChunk(v1::Chunk chunk);

}  // namespace memoir

#endif  // TOOLS_IMPORT_CHUNK_BYTES_H_
