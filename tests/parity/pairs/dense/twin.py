"""By hand, the layers made last to first, one of them with a kernel of its own laid out as in Keras."""

import torch
import torch.nn.functional as F
from torch import nn


class Straight(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.kernel = nn.Parameter(nn.init.xavier_uniform_(torch.empty(inputs, outputs)))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.kernel + self.bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Linear(5, 5)
        self.b = Straight(5, 5)
        self.a = nn.Linear(5, 5)

    def forward(self, x):
        return self.c(F.leaky_relu(self.b(F.relu(self.a(x))), 0.3))


def build():
    return Net()
