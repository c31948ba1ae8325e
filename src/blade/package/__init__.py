"""The BLADE-ready package of a benchmark: skill (D1), rollouts (D2), golden reports (D3)."""
