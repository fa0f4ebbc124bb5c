"""AI Scientist-v2, a best-first tree search over ideas with a breadth and a budget."""
