"""Analysis by events and watches: what trajectories pass, where and when, without their saves."""
