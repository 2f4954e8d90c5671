"""Fits of a motion to recordings, and its derivatives for other packages.

recordings.py           data and their times, laid out for the batch
unknowns.py             what is free, its bounds, where it starts
shooting.py             the motion and its tangents between the data: sums of squares, derivatives
levenberg_marquardt.py  least squares for a whole batch at once
fitted_motions.py       what a fit has found
estimation.py           `fit`
gradients.py            functions for JAX and PyTorch
"""
