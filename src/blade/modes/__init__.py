"""The failure modes: one file each, with what it means, when it applies, who has to act, and what to do."""
