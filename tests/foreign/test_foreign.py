"""Scripts of other projects, from packages on PyPI, unchanged on the simulated GPU: `./dev foreign`. docs/simulated_device.md lists the results.

They are the packages' own files, with their own options. Files that they would download (a model, a dataset) are made here, or synthetic by their own option.
"""

import json
import os
import pathlib
import subprocess
import sysconfig

import pytest

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = HERE.parents[1] / "build/venv-foreign"
PYTHON = ENVIRONMENT / "bin/python"
TORCHRUN = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29731"]
TIMEOUT = 900


@pytest.fixture(scope="module")
def packages():
    assert PYTHON.exists(), f"no {ENVIRONMENT}: run ./dev foreign"
    return ENVIRONMENT / sysconfig.get_path("purelib", vars={"base": "."})


@pytest.fixture(scope="module")
def folder(packages, tmp_path_factory):
    """With the model and the sentences that the scripts are given, and the script that is no module's."""
    folder = tmp_path_factory.mktemp("foreign")
    run([PYTHON, HERE / "make_model.py", folder], folder)
    return folder


def run(command, folder, **variables):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "PYTORCH_"))}
    environment |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HOME": str(folder / "cache"), **variables}
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done


def sft(packages, _):
    options = {"model_name_or_path": "model", "dataset_name": "sentences", "output_dir": "trained", "max_steps": 3, "per_device_train_batch_size": 2,
               "report_to": "none", "logging_steps": 1, "learning_rate": 1e-2, "seed": 1}
    return [packages / "trl/scripts/sft.py", *(word for name, value in options.items() for word in (f"--{name}", value))]


def classy(packages, folder):
    """Its own configuration of ResNet-50 on synthetic images, shorter."""
    configuration = json.loads((packages / "classy_vision/configs/resnet50_synthetic_image_classy_config.json").read_text())
    configuration |= {"num_epochs": 1}
    for part in configuration["dataset"].values():
        part |= {"num_samples": 32, "batchsize_per_replica": 16}
    configuration["optimizer"]["param_schedulers"]["lr"]["values"] = [0.1]
    (folder / "classy.json").write_text(json.dumps(configuration))
    return [ENVIRONMENT / "classy_vision/classy_train.py", "--config_file", "classy.json", "--skip_tensorboard"]


def accelerate(packages, _):
    return [packages / "accelerate/test_utils/scripts/test_script.py"]


def open_clip(*_):
    return [*TORCHRUN, "-m", "open_clip_train.main", "--dataset-type", "synthetic", "--train-num-samples", 64, "--batch-size", 16, "--model", "ViT-B-32",
            "--epochs", 1, "--workers", 0, "--precision", "amp", "--log-every-n-steps", 1]


# For each script: its number of devices, and its output on success.
SCRIPTS = {sft: (1, "Model saved to trained"), open_clip: (2, "Train Epoch: 0 [64/64 (100%)]"), accelerate: (1, "**Test reinstantiated state**"),
           classy: (1, "Training successful!")}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_script(tree, packages, folder, script):
    """By memoir fit, and recorded by memoir run."""
    devices, success = SCRIPTS[script]
    command = ["--", PYTHON, *script(packages, folder)]
    fit = run([tree / "bin/memoir", "fit", "--json", "--gpu", "h100", "--devices", devices, *command], folder)
    assert success in fit.stderr, fit.stderr[-4000:]
    card, = json.loads(fit.stdout)["cards"]
    assert card["verdict"] == "fits" and card["need"]["high_bytes"] > card["runs"][0]["processes"][0]["devices"][0]["context_bytes"], card
    print(f"\n{script.__name__}: takes {card['need']['high_bytes'] / 2**20:.0f} MiB")
    capture = folder / f"{script.__name__}.capture"
    run([tree / "bin/memoir", "run", "-q", "-o", capture, "--simulate", "h100", "--sim-devices", devices, *command], folder)
    shown = json.loads(run([tree / "bin/memoir", "show", "--json", capture], folder).stdout)
    simulated = [process for process in shown["processes"] if "h100" in (process.get("simulated_device") or "")]
    assert len(simulated) >= devices, shown["processes"]


def test_generate(tree, folder):
    found = []
    for device, command in (("cpu", []), ("cuda", [tree / "bin/memoir", "run", "-q", "-o", folder / "generated", "--simulate", "h100", "--"])):
        found.append(json.loads(run([*command, PYTHON, HERE / "generate.py", folder / "model", device], folder).stdout.splitlines()[-1]))
    on_cpu, on_gpu = found
    assert all(len(tokens[0]) > 5 for tokens in on_cpu.values()) and on_gpu == on_cpu
