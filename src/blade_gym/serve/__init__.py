"""Servers: the head, resources servers, agents and models as web applications, on loopback or in this process."""
