"""The code that runs inside the team's own interpreters.

A worker is a process: `python migrator/worker/start.py request.json`, where the request names a module of this
folder (`"module": "tensorflow_side"`), the folder for its results (`"out"`) and what to do. `launch.py` starts one
from our side. Everything here is Python 3.8 and needs the standard library, NumPy and one framework; modules import
each other relatively, so that the folder works under whatever package name it is loaded.
"""
