"""The manifests of examples/cluster as their readers see them: documents, schemas, pods."""

import functools
import json
import pathlib

import jsonschema
import referencing
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "cluster"
PUBLISHED = pathlib.Path(__file__).resolve().parent / "published"
SCHEMAS = {"Job": {"$ref": "kubernetes.json#/$defs/io.k8s.api.batch.v1.Job"}, "PyTorchJob": "pytorchjob.json", "TrainJob": "trainjob.json",
           "TrainingRuntime": "trainingruntime.json", "RayJob": "rayjob.json"}


def documents(path):
    return list(yaml.safe_load_all(path.read_text()))


@functools.cache
def registry():
    contents = {path.name: json.loads(path.read_text()) for path in PUBLISHED.glob("*.json")}
    resources = {name: referencing.Resource(contents=c, specification=referencing.jsonschema.DRAFT202012) for name, c in contents.items()}
    return referencing.Registry().with_resources(resources.items())


def schema_errors(document):
    """The errors of an API server with the published schema of the `document`'s kind; one line each."""
    schema = SCHEMAS[document["kind"]]
    schema = {"$ref": schema} if isinstance(schema, str) else schema
    validator = jsonschema.Draft202012Validator(schema, registry=registry())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def templates(document):
    """The pods' templates in it, wherever they stand: what has a `spec` with `containers`."""
    if isinstance(document, list):
        document = dict(enumerate(document))
    if isinstance(document, dict):
        if "containers" in (document.get("spec") or {}):
            yield document
        else:
            for value in document.values():
                yield from templates(value)
