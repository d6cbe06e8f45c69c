"""The tournament server: a pure core and the shell around it."""
