// Reads the settings of the allocator in a torch snapshot that determine the sizes of blocks.
#ifndef TOOLS_IMPORT_SNAPSHOT_SETTINGS_H_
#define TOOLS_IMPORT_SNAPSHOT_SETTINGS_H_

#include "tools/import/pickle_heap.h"
#include "tools/import/snapshot_words.h"
#include "tools/import/torch_snapshot.h"

namespace memoir {

TorchSnapshot::Settings SettingsOf(const snapshot::Fields& fields, const PickleHeap& heap);

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_SETTINGS_H_
