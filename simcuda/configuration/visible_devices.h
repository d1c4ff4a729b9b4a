// Maps a device of this process to a card of the machine, by CUDA_VISIBLE_DEVICES.
//
// The simulated machine hides no card: a process with CUDA_VISIBLE_DEVICES=1 still sees all simulated cards. But if a
// launcher gives each process one card, device 0 is a different card in each process; PhysicalDevice returns which one.
// Any thread.
#ifndef SIMCUDA_CONFIGURATION_VISIBLE_DEVICES_H_
#define SIMCUDA_CONFIGURATION_VISIBLE_DEVICES_H_

namespace memoir::simcuda {

// Returns the number of the card. `device` itself if the variable does not contain a number for it.
int PhysicalDevice(int device);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONFIGURATION_VISIBLE_DEVICES_H_
