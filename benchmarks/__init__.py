"""What is fast, as ratios within one process: absolute times do not carry over between machines."""
