"""The three API dialects: what a message of each holds, and how a message is said in each."""
