"""The vault: listing, reading and parsing notes. The only package that opens them; it never writes."""
