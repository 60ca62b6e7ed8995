"""The HTTP gateway: clients of six APIs in, upstreams of six APIs out. Every tool call is validated in between."""
