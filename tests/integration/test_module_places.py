"""Where a module stands that no other one owns: in a plain list of the module that calls it, or just there."""

from recording import events, record, show

MODULES = '''
import torch
from torch import nn
import torch.nn.functional as F
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.__dict__["tied"] = nn.Tanh()  # hidden from torch, as weights that are shared often are
    def forward(self, x):
        return self.tied(self.fc(x))
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = [[nn.ReLU()], [nn.ReLU()]]
    def forward(self, x):
        for row in self.rows:
            x = row[0](x)
        return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.ReLU(), nn.Linear(8, 8), nn.ReLU()]
        self.heads = {"a": nn.Linear(8, 3), 'quo"te\\n': nn.Linear(8, 3)}
        self.blocks = (Block(), Block())
        self.deep = [Deep()]
        self.inner = nn.Sequential(nn.Linear(8, 8))
        self.inner.extra = [nn.Sigmoid()]
    def forward(self, x):
        for layer in (*self.layers, *self.blocks, *self.deep):
            x = layer(x)
        x = self.inner.extra[0](self.inner(x))
        return sum(head(x).sum() for head in self.heads.values())
'''
WHERE = {
    "layers.0": "ReLU", "layers.1": "Linear", "layers.2": "ReLU", "heads.a": "Linear", 'heads.quo"te\n': "Linear",
    "blocks.0.fc": "Linear", "blocks.1.fc": "Linear", "blocks.0.tied": "Tanh", "blocks.1.tied": "Tanh",
    "deep.0.rows.0.0": "ReLU", "deep.0.rows.1.0": "ReLU", "inner.0": "Linear",
}


def calls(tree, capture):
    return [event for event in events(tree, capture) if event["event"] == "module_enter" and not event.get("of_gradient")]


def test_parts_in_plain_containers_belong_to_their_caller(tree, tmp_path):
    capture, done = record(tree, tmp_path, MODULES + '''
model = Model()
for _ in range(2):
    model(torch.ones(4, 8)).backward()
''')
    assert (done.returncode, done.stderr) == (0, "")
    entered = calls(tree, capture)
    assert {event["root"] for event in entered} == {"Model"}
    classes = {event["module"]: event["class"] for event in entered}
    assert classes.items() >= WHERE.items()
    assert classes[""] == "Model" and classes["blocks.0"] == "Block" and classes["deep.0"] == "Deep"
    # `extra` is an attribute of `inner`, whose call is over when its part is called: it stands where it was called.
    assert classes["Sigmoid"] == "Sigmoid"
    rows = {row["name"] for row in show(tree, capture, "--by", "module")["modules"] if row["kind"] == "named"}
    assert rows >= {"layers.1", "blocks.0.fc", "heads.a"}
    # Backward, too: parameters of these modules are known.
    accumulated = {event["module"] for event in events(tree, capture) if event["event"] == "module_enter" and event.get("of_gradient")}
    assert accumulated == {"layers.1", "heads.a", 'heads.quo"te\n', "blocks.0.fc", "blocks.1.fc", "inner.0"}


def test_modules_made_while_another_runs_are_numbered_there(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import torch
from torch import nn
class Model(nn.Module):
    def forward(self, x):
        x = nn.Linear(8, 8)(x)
        a, b = nn.ReLU(), nn.ReLU()
        return b(a(x))
model = Model()
for _ in range(50):
    model(torch.ones(4, 8))
nn.ReLU()(torch.ones(1))
''')
    assert (done.returncode, done.stderr) == (0, "")
    entered = calls(tree, capture)
    places = {(event["root"], event["module"]) for event in entered}
    assert places == {("Model", ""), ("Model", "Linear"), ("Model", "ReLU"), ("Model", "ReLU#2"), ("ReLU", "")}
    assert len(entered) == 4 * 50 + 1


def test_what_has_a_path_or_was_called_alone_keeps_its_name(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import torch
from torch import nn
class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        return self.fc(x)
class Student(nn.Module):
    def __init__(self, teacher, alone):
        super().__init__()
        self.teacher, self.alone = [teacher], [alone]
    def forward(self, x):
        return self.alone[0](self.teacher[0].fc(x))
teacher, alone = Teacher(), nn.Tanh()
x = torch.ones(4, 8)
alone(x)
teacher(x)
Student(teacher, alone)(x)
''')
    assert (done.returncode, done.stderr) == (0, "")
    assert [(event["root"], event["module"]) for event in calls(tree, capture)] == [
        ("Tanh", ""), ("Teacher", ""), ("Teacher", "fc"), ("Student", ""), ("Teacher", "fc"), ("Tanh", "")]


def test_locals_of_the_program_are_not_kept_alive(tree, tmp_path):
    """A look at a frame's locals would keep what they were then until the frame is left."""
    capture, done = record(tree, tmp_path, '''
import weakref, torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.ReLU(), nn.Tanh()]
    def forward(self, x):
        hidden = x + 1
        gone = weakref.ref(hidden)
        y = self.layers[0](hidden)
        hidden = None
        assert gone() is None
        return self.layers[1](y)
Model()(torch.ones(4))
''')
    assert (done.returncode, done.stderr) == (0, "")
    assert {event["module"] for event in calls(tree, capture)} == {"", "layers.0", "layers.1"}
