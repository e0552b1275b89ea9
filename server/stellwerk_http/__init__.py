"""HTTP/1.1 for pages and streams of events, over h11 on Trio: status pages and live pages answer by it.

It knows nothing of matches. h11 takes longer to load than `--help` may:
import `server.py` where a page is opened.

Law: whatever a client sends, or fails to send or to read, costs that client its connection, and no other
client anything. Only GET and HEAD are answered, with one of a closed list of statuses, each with a body that
says why.
"""
