"""Models that answer: endpoints, the embedded one, recorded rollouts and scripted policies; a file a kind."""
