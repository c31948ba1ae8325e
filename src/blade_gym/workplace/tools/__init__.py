"""Every tool of the company, in the order in which a model is shown them."""

from blade_gym.workplace.toolbox import Tool
from blade_gym.workplace.tools import analytics, calendar, customers, directory, email, projects

TOOLS: tuple[Tool, ...] = (
    *directory.TOOLS,
    *email.TOOLS,
    *calendar.TOOLS,
    *analytics.TOOLS,
    *projects.TOOLS,
    *customers.TOOLS,
)
BY_NAME = {tool.name: tool for tool in TOOLS}
