"""Live pages of matches: a process of its own that learns what every spectator may, and shows it to browsers.

`show` <- `sources` <- `site`. Law: no audience costs a match anything, and no page shows more
than a spectator's socket would. `show` knows nothing of sockets and clocks; a source brings matches to
`show`, and `site.py` shows them over HTTP (`stellwerk_http`). `content/` has the pages: plain files and ES
modules.
"""
