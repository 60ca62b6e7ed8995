"""The page at `/`: live calls, success per model, routes and upstreams, and a playground for the parser."""
