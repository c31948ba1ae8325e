"""What may go wrong with a request or with the machine.

    BladeError            anything a user can fix; shown as two lines, without a trace
      ArtifactError       a path, a folder or a file that holds no rollouts
      RequestError        options or locations that cannot be served

Bad *input* (a torn line, a reward that is no number) never raises: it becomes a `Problem`.
"""


class BladeError(Exception):
    """A request that cannot be served: `message` says what and where, `hint` says what to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ArtifactError(BladeError):
    """Nothing usable where rollouts were expected."""


class RequestError(BladeError):
    """Options, names or locations that cannot be served."""
