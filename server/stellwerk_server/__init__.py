"""The server of matches: `operate` and `journal` <- `match` <- `lobby` <- `net`.

Each room may import those before it, and nothing that comes later. Decisions are plain code: `match` and
`lobby` take lines and the time, and return what to send. Only `net` waits.
"""
