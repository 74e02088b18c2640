"""Docstrings in the usual styles."""

import functools
from typing import Annotated

from agent_base import AgentToolset


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("called")
        return function(*args, **kwargs)
    return wrapper


class Docs(AgentToolset):
    def google(self, city: str, days: int = 3):
        """Forecast the weather.

        Uses the nearest station.

        Args:
            city (str): The city, such as "Paris".
                Or a post code.
            days (int, optional): How many days: at most 7.

        Returns:
            One line per day.
        """

    def numpy(self, city, days=3, hours=1):
        """Forecast the weather.

        Parameters
        ----------
        city : str
            The city.
        days, hours : int, optional
            How long.

        Returns
        -------
        str
            One line per day.
        """

    def sphinx(self, city: str, days: int = 3):
        """Forecast the weather.

        :param str city: The city,
            or a post code.
        :type city: str
        :param days: How many days.
        :returns: One line per day.
        """

    def annotated(self, city: Annotated[str, "From the hint"]):
        """Forecast.

        Args:
            city: From the docstring
        """

    def bare(self, city: str):
        pass

    def mentions(self, city: str):
        """Note: this is not a list of arguments.

        Args: are described elsewhere.
        """

    @traced
    def wrapped(self, city: str) -> str:
        """Forecast."""
        return city

    @traced
    async def wrapped_async(self, city: str) -> str:
        """Forecast later."""
        return city
