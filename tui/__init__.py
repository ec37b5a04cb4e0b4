"""The screen and the command line of the workbench."""
