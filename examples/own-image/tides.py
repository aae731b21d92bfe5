"""A module that the programs of an agent may use; it stands for your own."""

import math

LUNAR_DAY_HOURS = 24.84


def height(hour):
    """The height of the tide in metres, so many hours after high water."""
    return round(2.0 * math.cos(4 * math.pi * hour / LUNAR_DAY_HOURS), 2)
