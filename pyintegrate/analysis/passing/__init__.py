"""Analysis by events and watches: which surfaces trajectories cross, where and when."""
