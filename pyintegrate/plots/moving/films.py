"""Frames of a film: what stands still is drawn once, what moves over it in each."""

from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

FORMATS = ("rgba", "raw", "png")  # of frames as those who write films ask for them


@contextmanager
def drawn_once(figure, artists):
    """Within it ``figure.savefig`` draws these artists alone, over all others as they were first.

    Parameters
    ----------
    figure : Figure
    artists : list of Artist
        What moves.
    """
    ground = _Ground(figure, artists)
    usual = figure.savefig

    def savefig(target, *, format=None, dpi=None, **keywords):
        if format not in FORMATS or dpi is None:
            usual(target, format=format, dpi=dpi, **keywords)
        else:
            ground.write(target, format, dpi)

    figure.savefig = savefig
    try:
        yield
    finally:
        del figure.savefig
        ground.leave()


class _Ground:
    """A figure without what moves, as pixels."""

    def __init__(self, figure, artists):
        self.figure = figure
        self.artists = sorted(artists, key=lambda artist: artist.get_zorder())
        self.before = [artist.get_animated() for artist in self.artists]
        self.usual, self.dpi, self.region = figure.canvas, figure.dpi, None

    def write(self, target, kind, dpi):
        """A frame, as Matplotlib writes figures."""
        if self.region is None:
            self.draw(dpi)
        canvas = self.figure.canvas
        canvas.restore_region(self.region)
        for artist in self.artists:
            artist.draw(canvas.get_renderer())
        pixels = np.asarray(canvas.buffer_rgba())
        if kind == "png":
            from matplotlib.image import imsave

            imsave(target, pixels, format="png", dpi=dpi)
        else:
            target.write(pixels.tobytes())

    def draw(self, dpi):
        for artist in self.artists:
            artist.set_animated(True)  # and so not drawn with the others
        canvas = FigureCanvasAgg(self.figure)
        self.figure.dpi = dpi
        canvas.draw()
        self.region = canvas.copy_from_bbox(self.figure.bbox)

    def leave(self):
        if self.region is not None:
            self.figure.dpi = self.dpi
            self.figure.set_canvas(self.usual)
        for artist, animated in zip(self.artists, self.before, strict=True):
            artist.set_animated(animated)


@cache
def gif_writer():
    """The class of what writes .gif; Matplotlib's own is imported when a film is."""
    from matplotlib.animation import PillowWriter

    class OnePalette(PillowWriter):
        """All frames have the colours of the first: to find those of each takes longest."""

        palette: Any = None
        _frames: list[Any]

        def grab_frame(self, **keywords):
            super().grab_frame(**keywords)
            frame = self._frames[-1].convert("RGB")
            if self.palette is None:
                self.palette = frame.quantize(256)
            held = frame.quantize(palette=self.palette, dither=0)
            # The ground, which is at the corner, is as it is, not the mean of what is near it.
            colours, ground = held.getpalette(), 3 * held.getpixel((0, 0))
            colours[ground : ground + 3] = frame.getpixel((0, 0))
            held.putpalette(colours)
            self._frames[-1] = held

    return OnePalette
