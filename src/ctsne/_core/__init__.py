"""What every part uses: checks, threads, principal components, files, messages, progress."""
