"""The parts of the screen. Each takes plain values and posts events; none owns a rule."""
