"""Any client, any model: HTTP in on five wires, HTTP out on five wires, every call guarded on the way."""
