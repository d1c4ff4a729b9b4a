"""`python generate.py MODEL DEVICE`: what Hugging Face's generate makes of two prompts there, as JSON."""

import json
import sys

import torch
from transformers import LlamaForCausalLM

WAYS = {
    "greedy": {"do_sample": False},
    "sampled": {"do_sample": True, "temperature": 1.3, "top_k": 10, "top_p": 0.9},
    "beams": {"num_beams": 3, "do_sample": False, "no_repeat_ngram_size": 2},
    "penalised": {"do_sample": True, "repetition_penalty": 1.5, "min_new_tokens": 4, "cache_implementation": "static", "disable_compile": True},
}


def main(folder, device):
    model = LlamaForCausalLM.from_pretrained(folder).to(device).eval()
    prompts = torch.tensor([[1, 5, 6, 7], [0, 1, 9, 4]]).to(device)
    mask = (prompts != 0).long()
    found = {}
    for name, options in WAYS.items():
        torch.manual_seed(3)
        found[name] = model.generate(prompts, attention_mask=mask, max_new_tokens=16, **options).tolist()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
