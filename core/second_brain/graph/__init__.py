"""How notes belong together: by meaning, links, tags and common mentions."""
