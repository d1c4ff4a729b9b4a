"""An LSTM over sequences of different lengths, packed, with a hidden state that goes from one batch to the next."""

import random
import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, BATCH, LONGEST = 128, 16, 96
WORDS = 32000 if SEEDED == "vocabulary" else 2000


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.tags = nn.Linear(WIDTH, 50)

    def forward(self, ids, lengths, state):
        x = self.words(ids)  # SEEDED: vocabulary
        if SEEDED == "not_packed":
            x, state = self.lstm(x, state)  # SEEDED: not_packed
        else:
            x, state = self.lstm(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False), state)  # SEEDED: hidden
            x, _ = pad_packed_sequence(x, batch_first=True)
        return self.tags(x), state


def main():
    numbers = random.Random(0)
    net = Tagger().cuda()  # SEEDED: vocabulary
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    state = None
    for part in range(6):
        lengths = [LONGEST] + [numbers.randrange(4, LONGEST // 2) for _ in range(BATCH - 1)]
        ids = pad_sequence([torch.ones(length, dtype=torch.long) for length in lengths], batch_first=True).cuda()
        tags, state = net(ids, torch.tensor(lengths), state)
        loss = tags.square().mean()
        loss.backward(retain_graph=SEEDED == "hidden")
        if SEEDED != "hidden":
            state = tuple(one.detach() for one in state)
        if part % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
            state = None


main()
