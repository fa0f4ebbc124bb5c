"""The VirSci protocol with its five stages from an invitation to an abstract."""
