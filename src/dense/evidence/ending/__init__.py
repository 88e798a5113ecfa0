"""How a trace ends: handed over, broken off, given up, refused."""
