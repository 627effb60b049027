"""By hand, in another order and with other names: the head comes first, the blocks are built from the last one on."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.after = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels, eps=1e-5, momentum=0.01)
        self.before = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return F.relu(x + self.after(F.relu(self.norm(self.before(x)))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)
        self.late = Block(4)
        self.early = Block(4)
        self.stem = nn.Conv2d(2, 4, 1)

    def forward(self, x):
        x = F.relu(self.stem(x.permute(0, 3, 1, 2)))
        x = F.max_pool2d(self.late(self.early(x)), 2)
        return torch.sigmoid(self.head(x.mean(dim=(2, 3))))


def make():
    return Net()
