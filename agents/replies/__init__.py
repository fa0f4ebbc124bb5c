"""Forms, and how the text of a reply becomes one."""
