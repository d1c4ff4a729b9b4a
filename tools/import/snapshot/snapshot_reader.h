// Reads a pickle of torch.cuda.memory._dump_snapshot().
#ifndef TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_READER_H_
#define TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_READER_H_

#include "absl/status/statusor.h"
#include "tools/import/files/byte_source.h"
#include "tools/import/snapshot/torch_snapshot.h"

namespace memoir {

// Executes no code of the pickle. Returns InvalidArgument for another kind of file, which the message names. Returns
// DataLoss for a damaged file. Messages contain no path.
absl::StatusOr<TorchSnapshot> ReadTorchSnapshot(ByteSource& source);

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_READER_H_
