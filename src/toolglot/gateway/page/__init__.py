"""The page at `/`, and what it shows: live calls, success per model, routes and upstreams, a playground."""
