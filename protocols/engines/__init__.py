"""What research systems stand on."""
