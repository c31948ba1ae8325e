"""A property that is made at its first use and kept in the object.

`functools.cached_property` does the same under a lock, which takes as long as most of what is kept here does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class made_once(Generic[T]):  # noqa: N801  a decorator
    """For objects that one thread uses and that have a `__dict__`."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> made_once[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> made_once[T] | T:
        if instance is None:
            return self
        # What was made stands in the object itself, and is found there without this call.
        value = instance.__dict__[self._name] = self._make(instance)
        return value
