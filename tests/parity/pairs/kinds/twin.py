"""Their twins by hand."""

import torch
import torch.nn.functional as F
from torch import nn


class Subclassed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 6)
        self.norm = nn.BatchNorm1d(6, eps=1e-3, momentum=0.01)
        self.last = nn.Linear(6, 2)

    def forward(self, x):
        x = self.norm(F.gelu(self.first(x)))
        return self.last(F.dropout(x, 0.1, self.training) * 2.0)


class BareLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 3, 3, stride=2)

    def forward(self, x):
        return self.up(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(5, 3))
        self.offset = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return torch.tanh(x @ self.matrix + self.offset)


class Single(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(5, 3)

    def forward(self, x):
        return self.dense(x * 1.5)


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(3, 6, 3, padding="same", groups=3)
        self.deep = nn.Conv2d(6, 6, 3, groups=6, bias=False)
        self.point = nn.Conv2d(6, 5, 1)
        self.slope = nn.PReLU(5)

    def forward(self, x):
        x = self.wide(x.permute(0, 3, 1, 2))
        return self.slope(self.point(self.deep(x))).amax((2, 3))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)
        nn.init.zeros_(self.lstm.bias_hh_l0)
        self.lstm.bias_hh_l0.requires_grad_(False)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def subclassed():
    return Subclassed()


def bare_layer():
    return BareLayer()


def module():
    return Module()


def function():
    return lambda x: F.relu(x) * 2


def single_precision():
    return Single()


def depthwise():
    return Depthwise()


def recurrent():
    return Recurrent()
