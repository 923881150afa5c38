"""The command line, ``ctsne <command>``: a file for each command, and what the commands share."""
