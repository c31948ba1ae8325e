"""Every tool of the company, in the order in which a model is shown them."""

from . import analytics, calendar, customers, directory, email, projects
from .toolbox import Tool

TOOLS: tuple[Tool, ...] = (
    *directory.TOOLS,
    *email.TOOLS,
    *calendar.TOOLS,
    *analytics.TOOLS,
    *projects.TOOLS,
    *customers.TOOLS,
)
BY_NAME = {tool.name: tool for tool in TOOLS}
