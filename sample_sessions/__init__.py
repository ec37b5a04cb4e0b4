"""Small sessions shipped with the workbench, for the demo and for trying things out."""
