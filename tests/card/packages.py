"""Models of packages of others, with weights made here: timm, transformers, peft, Lightning."""

import torch
from torch import nn

from registry import images, program, train


@program
def timm_resnet50():
    import timm
    train(timm.create_model("resnet50", num_classes=100), images(224), dtype=torch.bfloat16)


@program
def timm_vit():
    import timm
    train(timm.create_model("vit_small_patch16_224", num_classes=100), images(224, 32), dtype=torch.bfloat16)


@program
def timm_convnext():
    import timm
    train(timm.create_model("convnext_tiny", num_classes=100), images(224, 16))


@program
def transformers_llama():
    import transformers
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(hidden_size=768, intermediate_size=2048, num_hidden_layers=6, num_attention_heads=12, num_key_value_heads=4,
                                                                   vocab_size=32000))
    ids = torch.randint(32000, (4, 512)).cuda()
    train(model, lambda _: (ids, None, None, None, None, ids), dtype=torch.bfloat16, loss_of=lambda out: out.loss)


@program
def transformers_bert():
    import transformers
    model = transformers.BertForMaskedLM(transformers.BertConfig(num_hidden_layers=6))
    ids = torch.randint(30000, (8, 256)).cuda()
    train(model, lambda _: (ids,), loss_of=lambda out: out.logits.pow(2).mean())


@program
def transformers_generate():
    import transformers
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=6, n_embd=384, n_head=6)).cuda().half().eval()
    model.generate(torch.full((4, 16), 11).cuda(), max_new_tokens=40, min_new_tokens=40, do_sample=False, pad_token_id=0)


@program
def peft_lora():
    import peft
    import transformers
    base = transformers.LlamaForCausalLM(transformers.LlamaConfig(hidden_size=768, intermediate_size=2048, num_hidden_layers=6, num_attention_heads=12, vocab_size=32000))
    model = peft.get_peft_model(base.bfloat16(), peft.LoraConfig(target_modules=["q_proj", "v_proj"], r=8))
    ids = torch.randint(32000, (4, 512)).cuda()
    train(model, lambda _: (ids, None, None, None, ids), loss_of=lambda out: out.loss)


@program
def lightning_fit():
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 10))

        def training_step(self, batch, _):
            return self.net(batch[0]).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(512, 784)), batch_size=64)
    lightning.Trainer(max_epochs=2, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Module(), data)
