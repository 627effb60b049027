"""What holds for every test: two run side by side on small machines, so frameworks stay quiet and single-threaded."""

from __future__ import annotations

import os

for name, value in {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",  # its reordered sums would make the same test differ from machine to machine
    "KERAS_BACKEND": "tensorflow",
    "MPLBACKEND": "Agg",
}.items():
    os.environ.setdefault(name, value)
