"""What a run will take and whether it can be run, found out before anything is paid."""
