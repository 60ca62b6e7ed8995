"""The HTTP gateway: clients of five APIs in, upstreams of five APIs out. Every tool call is validated in between."""
