"""The true category of each block, from the program itself: who holds it in Python, and which tensors autograd saves.

    truth = Truth(models=[model], optimizers=[optimizer])
    with truth.step():                 # sees the tensors that are saved for backward
        ...
        truth.look(inputs=[x, y])      # the category of each address at this instant; sets a mark of Memoir's
    truth.write(path)
"""

import contextlib
import gc
import json
import weakref

import torch

import memoir


def local(tensor):
    """For a DTensor this rank's local tensor, for a sparse tensor its values."""
    tensor = getattr(tensor, "_local_tensor", tensor)
    return tensor._values() if tensor is not None and tensor.is_sparse else tensor


def address(tensor):
    return tensor.untyped_storage().data_ptr()


class Truth:
    def __init__(self, models=(), optimizers=(), leaves=()):
        self.models, self.optimizers, self.leaves = models, optimizers, leaves
        self.device = torch.get_default_device().type
        self.gathered = lambda: ()  # parameters that are whole for now
        self.saved, self.instants = [], []

    def step(self):
        self.saved = []
        return torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)

    def _pack(self, tensor):
        alias = tensor.detach()  # kept by the graph alone: gone with it
        self.saved.append((weakref.ref(alias), address(alias)))
        return alias

    def look(self, inputs=(), caches=()):
        """{address: [category, bytes]} of the tensors held now. Later entries win."""
        held = {}

        def say(category, tensors):
            for tensor in map(local, tensors):
                if tensor is not None and tensor.device.type == self.device and address(tensor):
                    held[address(tensor)] = [category, tensor.untyped_storage().nbytes()]

        gc.collect()
        say("TEMPORARY", [thing for thing in gc.get_objects() if type(thing) is torch.Tensor and not thing.is_sparse])
        say("ACTIVATION", [alias() for alias, _ in self.saved])
        say("INPUT", inputs)
        say("BUFFER", [*caches, *(buffer for model in self.models for buffer in model.buffers())])
        parameters = [parameter for model in self.models for parameter in model.parameters()] + list(self.leaves)
        say("GRADIENT", [parameter.grad for parameter in parameters])
        for optimizer in self.optimizers:
            say("OPTIMIZER_STATE", [value for state in optimizer.state.values() for value in state.values() if isinstance(value, torch.Tensor)])
        say("PARAMETER", [*self.gathered(), *parameters])
        memoir.mark(f"look {len(self.instants)}")
        self.instants.append(held)

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.instants, file)
