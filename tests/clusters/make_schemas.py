"""How the schemas of published/ were made from what their projects publish; run by hand when a version changes.

Their texts for people are left out, and in the schemas of the operators a pod's template is replaced by Kubernetes' own: 20 kB instead of 600.
Unknown fields are errors, as for `kubectl apply --validate=strict`.

    python make_schemas.py kubernetes _definitions.json       # kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict of PyPI's kubernetes-validate
    python make_schemas.py pytorchjob kubeflow.org_pytorchjobs.yaml     # a CustomResourceDefinition
"""

import json
import pathlib
import sys

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent / "published"
TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
KEPT = ("io.k8s.api.batch.v1.Job", TEMPLATE)
FOR_PEOPLE = ("description", "format", "default", "example", "externalDocs")


def bare(schema):
    """Without what does not decide whether a document is valid."""
    if isinstance(schema, list):
        return [bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: {name: bare(value) for name, value in content.items()} if key in ("properties", "$defs") else bare(content)
            for key, content in schema.items() if key not in FOR_PEOPLE and not key.startswith("x-")}


def references(schema):
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.rpartition("/")[2]
            else:
                yield from references(value)


def kubernetes(definitions):
    """The definitions of KEPT and all that they refer to."""
    wanted, found = list(KEPT), {}
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = bare(definitions[name])
            wanted += references(found[name])
    return {"$defs": found}


def is_template(schema):
    spec = schema.get("properties", {}).get("spec", {})
    return "containers" in spec.get("properties", {}) and "volumes" in spec.get("properties", {})


def strict(schema):
    """A CustomResourceDefinition's schema, in which fields that it does not know are errors, and pods' templates are Kubernetes'."""
    if not isinstance(schema, dict):
        return schema
    if is_template(schema):
        return {"$ref": f"kubernetes.json#/$defs/{TEMPLATE}"}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    result = {key: value for key, value in schema.items() if key in ("type", "enum", "required", "pattern", "minimum", "maximum", "minLength", "minItems")}
    if "items" in schema:
        result["items"] = strict(schema["items"])
    if "properties" in schema:
        result["properties"] = {name: strict(value) for name, value in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = strict(schema["additionalProperties"])
    elif "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result["additionalProperties"] = False
    return result


def custom_resource(definition):
    version = next(v for v in definition["spec"]["versions"] if v["storage"])
    schema = strict(version["schema"]["openAPIV3Schema"])
    schema["properties"].pop("status", None)
    schema["properties"]["metadata"] = {"$ref": "kubernetes.json#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    schema["properties"]["apiVersion"] = {"enum": [f"{definition['spec']['group']}/{version['name']}"]}
    schema["properties"]["kind"] = {"enum": [definition["spec"]["names"]["kind"]]}
    return schema


def main(name, source):
    text = pathlib.Path(source).read_text()
    schema = kubernetes(json.loads(text)["$defs"]) if name == "kubernetes" else custom_resource(yaml.safe_load(text))
    (FOLDER / f"{name}.json").write_text(json.dumps(schema, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
