"""The layer classes, one file per family, as in Paddle."""
