"""`python make_model.py FOLDER`: a tiny Llama with random weights, its tokenizer, and sentences to train on, as if they had been downloaded."""

import json
import pathlib
import sys

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

MARKS = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
WORDS = "the a cat dog sat ran on under mat tree and then slept . ?".split()


def main(folder):
    vocabulary = {word: number for number, word in enumerate([*MARKS.values(), *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **MARKS).save_pretrained(folder / "model")
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                         max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    LlamaForCausalLM(config).save_pretrained(folder / "model")
    (folder / "sentences").mkdir()
    lines = [" ".join(WORDS[(7 * i + 3 * k) % len(WORDS)] for k in range(12 + i % 5)) for i in range(32)]
    (folder / "sentences/train.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
