"""The five-stage VirSci protocol (Su et al., ACL 2025), one file per stage."""
