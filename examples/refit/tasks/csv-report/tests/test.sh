#!/bin/bash
# Harbor reads the reward from the file; the exit code means nothing to it.
mkdir -p /logs/verifier
reward=0
python3 -I /tests/check.py && reward=1
echo "$reward" > /logs/verifier/reward.txt
