// Loads the simulated version of NVIDIA's management library, which programs open by its name, libnvidia-ml.so.1.
#ifndef SIMCUDA_PROCESS_MANAGEMENT_LIBRARY_H_
#define SIMCUDA_PROCESS_MANAGEMENT_LIBRARY_H_

namespace memoir::simcuda {

// Loads the simulated library from the folder of libmemoir_simcuda.so or its subfolder "simulated". Never unloads it,
// so that a later dlopen by name finds it. Called before the program counts the devices. Does nothing if the file is
// missing.
void LoadManagementLibrary();

}  // namespace memoir::simcuda

#endif  // SIMCUDA_PROCESS_MANAGEMENT_LIBRARY_H_
