"""What people write: strict models, documents with line numbers, settings, deployments."""
