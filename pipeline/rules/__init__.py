"""What is asked of a skill: one module of rules a profile, and the one way to ask them."""
