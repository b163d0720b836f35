"""What this service does. Empty, since every function imports this package first and needs only its own handler."""
