"""The tables of the sample lake, one module a topic, and what writes them."""
