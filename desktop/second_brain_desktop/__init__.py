"""The desktop application of Second Brain.  Its windows arrive in a later release; now it can only say its version."""
