"""Live pages of matches: a process of its own that learns what every spectator may, and shows it to browsers.

`http` and `show` <- `sources` <- `site`. Law: no audience costs a match anything, and no page shows more
than a spectator's socket would. `http` knows nothing of matches, `show` nothing of sockets and clocks; a
source brings matches to `show`, and `site.py` joins them. `content/` has the pages: plain files and ES
modules.
"""
