"""The data a society starts from, on disk and in memory."""
