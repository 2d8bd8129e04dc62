"""Reading notes and parts of notes."""
