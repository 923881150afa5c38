"""What ctsne keeps on disk: model files, sweeps and the settings record of every output."""
