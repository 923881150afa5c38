"""Shared by all packages: checks, threads, principal components, files, messages, progress."""
