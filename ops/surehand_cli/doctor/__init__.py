"""`surehand doctor`: a live account compared with the declarations, read-only."""
