"""The program that serves the toolsets of one skill. main.py starts it."""
