// Reads the settings of the allocator in a torch snapshot that determine the sizes of blocks.
#ifndef TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_SETTINGS_H_
#define TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_SETTINGS_H_

#include "tools/import/snapshot/pickle_heap.h"
#include "tools/import/snapshot/snapshot_words.h"
#include "tools/import/snapshot/torch_snapshot.h"

namespace memoir {

TorchSnapshot::Settings SettingsOf(const snapshot::Fields& fields, const PickleHeap& heap);

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_SETTINGS_H_
